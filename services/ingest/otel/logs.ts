// OTLP log records become rows of logs, texts as they came and everything else as JSON text; those of coding agents calls too.
import { isUtf8 } from 'node:buffer'

import { type ContentStore, inlineTextLength } from '../../content/content-port.ts'
import { hitsOf, maskedLog, saidMasked } from '../../content/masking/mask-call.ts'
import { type Maskings, maskedExtraction, maskedTexts, takesLong } from '../../content/masking/maskings.ts'
import { mayBeSensitiveKey, mayHoldSensitiveKey, redacted } from '../../content/redact.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { TooLongHere } from '../../core/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { Seen } from '../../core/json/escaping.ts'
import type { EdgeLog, RecordSplit } from '../../core/log/log.ts'
import { rowBuffers } from '../../core/memory/buffer-pool.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { joinedEventNames } from '../../events/gen-ai-events.ts'
import {
  createLogWriter,
  type LogRow,
  mapText,
  type RowTexts,
  TextBytes,
  type Texts,
  type WrittenRow,
  writtenTexts,
} from '../../events/logs.ts'
import { agentCall, agentEvent } from './agent-events.ts'
import { createDecodeBudget, type DecodeBudget, spendOnRows } from './budget.ts'
import { type Expansion, prepared } from './expand.ts'
import { withFault } from './faults.ts'
import { keyOf, maxKeyLength, timesForgotten } from './keys.ts'
import type { Writer } from './receive.ts'
import { type LogAttributes, type Nanos, nanosText, type OtlpLogRecord, type OtlpScope } from './spans.ts'
import { isGiven, type SettledTime, settledUs } from './times.ts'
import { jsonText, type Value } from './values.ts'

export type LogDeps = {
  log: EdgeLog
  /** Limits, as for spans. */
  split?: RecordSplit
  clock: Clock
  content: ContentStore
  maskings: Maskings
  config: { maxBodyBytes: number }
}

/** A row is longer than its record by the names of its columns and by what the records of a scope share. */
const rowBytesPerBodyByte = 2

const breaks = /[\r\n]|\\u/

/** A text with another first letter is no JSON, and holds nothing that is hidden. */
const mayBeJson = (first: number | undefined): boolean => first === 123 || first === 91

/** Whether a text stays as it came: nothing in it is hidden, cut, or written in another way. */
const staysAsItIs = (text: string): boolean =>
  text.length <= inlineTextLength &&
  (!mayBeJson(text.charCodeAt(0)) || (!mayHoldSensitiveKey(text) && !breaks.test(text)))

/** The same of one that came as bytes. */
function staysInBytes(seen: Seen): boolean {
  const { memory, from, end } = seen
  if (seen.isBeyondAscii && !isUtf8(memory.subarray(from, end))) return false
  if (!mayBeJson(memory[from])) return true
  if (seen.hasBreaks || seen.isUnsure) return false
  for (let n = 0; n < seen.nameCount; n++) if (mayBeSensitiveKey(memory, from, seen.names[n] as number)) return false
  return true
}

type Shared = Pick<LogRow, 'resource' | 'scope'>

type Stored = { text: string; isJson: boolean }

/** @param looksInside reads every text that holds JSON, for what `found` tells of its numbers */
function stored(value: Value, hides: boolean, found: Expansion, looksInside = false): Stored {
  if (typeof value === 'string') {
    if (hides && value !== '') return { text: redacted, isJson: false }
    if (!looksInside && staysAsItIs(value)) return { text: value, isJson: false }
  }
  const kept = prepared(value, hides, found)
  if (typeof kept === 'string') return { text: kept, isJson: false }
  // A text that holds JSON is read for its credentials and its content, and stays a text.
  return { text: jsonText(kept, true, false), isJson: typeof value !== 'string' }
}

const textOf = <V>(value: V | TextBytes): V | string => (value instanceof TextBytes ? value.text() : value)

const isJsonAsText = (value: Value | TextBytes): value is number | boolean =>
  typeof value === 'boolean' || Number.isSafeInteger(value)

/** The texts of attributes; of a repeated key the last value counts. */
function textsOf({ keys, values }: LogAttributes, found: Expansion, looksInside = false): Texts {
  const texts = new Map<string, string>()
  const json = new Set<string>()
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = textOf(values[i] as Value | TextBytes)
    const { text, isJson } = isJsonAsText(value)
      ? { text: String(value), isJson: true }
      : stored(value, keyOf(key).endsSecret, found, looksInside)
    texts.set(key, text)
    if (isJson) json.add(key)
    else if (json.size > 0) json.delete(key)
  }
  return { values: texts, json: [...json] }
}

const noTexts: RowTexts = { keys: [], values: [], json: [] }

/** Numbers of lists of attributes. */
let lists = 0

/** The same as it is written, without a map; null when a key may come twice. */
function onceEach({ keys, values }: LogAttributes, found: Expansion): RowTexts | null {
  const list = ++lists
  const forgotten = timesForgotten()
  const written: { keys: string[]; values: (string | TextBytes)[]; json: string[] } = { keys: [], values: [], json: [] }
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i] as string
    const key = keyOf(name)
    if (key.list === list || name.length > maxKeyLength) return null
    key.list = list
    written.keys.push(key.json)
    const value = values[i] as Value | TextBytes
    if (isJsonAsText(value)) {
      written.values.push(String(value))
      written.json.push(name)
    } else if (value instanceof TextBytes) written.values.push(key.endsSecret ? redacted : value)
    else {
      const { text, isJson } = stored(value, key.endsSecret, found)
      written.values.push(text)
      if (isJson) written.json.push(name)
    }
  }
  return forgotten === timesForgotten() ? written : null
}

const joinedNames = new Set(joinedEventNames)

const isId = /^(?!0+$)[0-9a-f]+$/

const idOf = (id: string, length: number): string => (id.length === length && isId.test(id) ? id : '')

/** Name and version of a library stand among its attributes. */
function scopeText({ name, version, attributes }: OtlpScope, found: Expansion): string {
  const texts = new Map(textsOf(attributes, found).values)
  if (name !== '') texts.set('name', name)
  if (version !== '') texts.set('version', version)
  return mapText(texts)
}

/** Nanoseconds of a time that a record may have, '0' for any other. */
const digitsOf = ({ us, unit }: SettledTime, time: Nanos): string =>
  us === null ? '0' : unit === '' ? nanosText(time) : `${us}000`

/** The name of an event: its own field, or what senders before that field wrote. */
function eventNameOf({ eventName, attributes: { keys, values } }: OtlpLogRecord): string {
  if (eventName !== '') return eventName
  const named = textOf(values[keys.lastIndexOf('event.name')])
  return typeof named === 'string' ? named : ''
}

/** Highest severity that OTLP knows. */
const maxSeverity = 24

/** Writes the rows of all records that can be stored. */
export function beginLogs(deps: LogDeps, context: RouteContext, budget: DecodeBudget): Writer<OtlpLogRecord> {
  const { userId } = context.caller
  const extraction = deps.content.begin()
  const writer = createLogWriter(context.body.bytes.length * rowBytesPerBodyByte, rowBuffers)
  const calls = createCallWriter(deps.split)
  /** Whether calls wait for some of the records. */
  let isAwaited = false
  const nowMs = Date.now()
  const taken = `${nowMs}000000`

  /** The row without its attributes. */
  const rowOf = (record: OtlpLogRecord, { resource, scope }: Shared, found: Expansion): WrittenRow => {
    const observed = digitsOf(settledUs(record.observed, nowMs), record.observed)
    const time = settledUs(record.time, nowMs)
    const at = digitsOf(time, record.time)
    if (at === '0' && isGiven(record.time))
      record.faults = withFault(record.faults, 'time', 'its time is before 2000 or in the future')
    else if (time.unit !== '') record.faults = withFault(record.faults, 'time', `its time is in ${time.unit}`)
    const body = record.body ?? ''
    const kept = body instanceof TextBytes ? { text: body, isJson: false } : stored(body, false, found)
    return {
      at: at !== '0' ? at : observed === '0' ? taken : observed,
      observed,
      traceId: idOf(record.traceId, 32),
      spanId: idOf(record.spanId, 16),
      severity: record.severity > 0 && record.severity <= maxSeverity ? record.severity : 0,
      severityText: record.severityText,
      eventName: eventNameOf(record),
      body: kept.text,
      isBodyJson: kept.isJson,
      attributes: noTexts,
      resource,
      scope,
    }
  }

  /** The row with nothing left as bytes, for those who look into its texts. */
  const wholeRow = (
    row: WrittenRow,
    { attributes }: OtlpLogRecord,
    found: Expansion,
    looksInside: boolean,
  ): LogRow => ({
    ...row,
    body: row.body instanceof TextBytes ? stored(row.body.text(), false, found).text : row.body,
    attributes: textsOf(attributes, found, looksInside),
  })

  return {
    scope({ projectId, resource }, scope, count) {
      const masker = deps.maskings.of(projectId)
      if (!context.mayTakeLong && takesLong(masker, context.body.bytes.length)) throw new TooLongHere()
      const own = maskedExtraction(masker, extraction, deps.content)
      const extract = maskedTexts(masker, (long: string) => own.extract(projectId, userId, long))
      const expansion = (): Expansion => ({
        extract,
        isNonNative: false,
        budget: createDecodeBudget(deps.config.maxBodyBytes),
        faults: null,
      })
      const shared = {
        resource: mapText(textsOf(resource, expansion()).values),
        scope: scopeText(scope, expansion()),
      }
      spendOnRows(budget, count * (shared.resource.length + shared.scope.length + projectId.length))
      return (record) => {
        const hitsBefore = hitsOf(masker)
        const found = expansion()
        const row = rowOf(record, shared, found)
        // The time as it was sent, so that a record that is sent again is the same.
        const time = isGiven(record.time) ? nanosText(record.time) : '0'
        const event = agentEvent(row, record.attributes)
        const hasSpan = row.traceId !== '' && row.spanId !== ''
        // The worker finds records of the call of their span, and the prompts of a session, by the full name.
        if (event !== null) row.eventName = event.name
        isAwaited ||= hasSpan && joinedNames.has(row.eventName)
        if (masker === undefined && event === null) {
          row.attributes = onceEach(record.attributes, found) ?? writtenTexts(textsOf(record.attributes, found))
          const ofText = (text: string): string => stored(text, false, found).text
          writer.add(projectId, row, time, deps.clock.next(), { stays: staysInBytes, stored: ofText })
          return null
        }
        const whole = wholeRow(row, record, found, event !== null)
        const masked = masker === undefined ? whole : maskedLog(masker, whole)
        const written = { ...masked, attributes: writtenTexts(masked.attributes) }
        const id = writer.add(projectId, written, time, deps.clock.next())
        const of = { projectId, userId, id, odd: found.isNonNative }
        if (event === null || hasSpan) return null
        const call = agentCall(event, masked, { ...of, clock: deps.clock.next() })
        calls.add(saidMasked(masker, call, hitsBefore))
        return null
      }
    },
    async append() {
      const before = await extraction.append()
      const records = writer.take()
      if (records.length === 0) return before
      const appended = await deps.log.append('logs', records)
      for (const { rows } of records) rowBuffers.give(rows)
      if (isAwaited) deps.log.flush('logs')
      return [...before, appended, ...(await appendCalls(deps.log, calls.take()))]
    },
  }
}
