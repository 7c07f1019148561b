// OTLP log records become rows of logs, texts as they came and everything else as JSON text; those of coding agents calls too.

import { type ContentStore, inlineTextLength } from '../../content/content-port.ts'
import { maskedLog } from '../../content/masking/mask-call.ts'
import { type Maskings, maskedExtraction, maskedTexts, takesLong } from '../../content/masking/maskings.ts'
import { mayHoldSensitiveKey, redacted } from '../../content/redact.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { isPlausible } from '../../core/clock/timestamps.ts'
import { TooLongHere } from '../../core/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { Log, RecordSplit } from '../../core/log/log.ts'
import { createBufferPool } from '../../core/memory/buffer-pool.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { createLogWriter, type LogRow, mapText, type Texts } from '../../events/logs.ts'
import { agentCall, agentEvent } from './agent-events.ts'
import { createDecodeBudget, type DecodeBudget, spendOnRows } from './budget.ts'
import { type Expansion, prepared } from './expand.ts'
import { keyOf } from './keys.ts'
import type { Writer } from './receive.ts'
import { type Attributes, type Nanos, nanosText, type OtlpLogRecord, type OtlpScope, roundedUs } from './spans.ts'
import { isAcceptable } from './times.ts'
import { jsonText, type Value } from './values.ts'

export type LogDeps = {
  log: Pick<Log, 'append'>
  /** As for spans. */
  split?: RecordSplit
  clock: Clock
  content: ContentStore
  maskings: Maskings
  config: { maxBodyBytes: number }
}

/** A row is longer than its record by the names of its columns and by what the records of a scope share. */
const rowBytesPerBodyByte = 2

/** Whether texts under this key are credentials: what spans hide, the last segment of a dotted key decides. */
function isSecret(name: string): boolean {
  const { path, isSecret } = keyOf(name)
  return isSecret || (path.length > 1 && keyOf(path[path.length - 1] as string).isSecret)
}

const breaks = /[\r\n]|\\u/

/** Whether a text that may hold JSON stays as it came: nothing in it is hidden, cut, or written in another way. */
const staysAsItIs = (text: string): boolean =>
  text.length <= inlineTextLength && !mayHoldSensitiveKey(text) && !breaks.test(text)

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

/** Of a key that comes twice the last value counts. */
function textsOf({ keys, values }: Attributes, found: Expansion, looksInside = false): Texts {
  const texts = new Map<string, string>()
  const json = new Set<string>()
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const value = values[i] as Value
    const isPlain = typeof value === 'boolean' || Number.isSafeInteger(value)
    const { text, isJson } = isPlain
      ? { text: String(value), isJson: true }
      : stored(value, isSecret(key), found, looksInside)
    texts.set(key, text)
    if (isJson) json.add(key)
    else if (json.size > 0) json.delete(key)
  }
  return { values: texts, json: [...json] }
}

const idOf = (id: string, length: number): string =>
  id.length === length && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id) ? id : ''

/** Name and version of a library stand among its attributes. */
function scopeText({ name, version, attributes }: OtlpScope, found: Expansion): string {
  const texts = new Map(textsOf(attributes, found).values)
  if (name !== '') texts.set('name', name)
  if (version !== '') texts.set('version', version)
  return mapText(texts)
}

const isSet = ({ us, rest }: Nanos): boolean => us > 0 || rest > 0

/** The name of an event: its own field, or what senders before that field wrote. */
function eventNameOf({ eventName, attributes: { keys, values } }: OtlpLogRecord): string {
  if (eventName !== '') return eventName
  const named = values[keys.lastIndexOf('event.name')]
  return typeof named === 'string' ? named : ''
}

/** Highest severity that OTLP knows. */
const maxSeverity = 24

const rowBuffers = createBufferPool()

/** Writes the rows of all records that can be stored. */
export function beginLogs(deps: LogDeps, context: RouteContext, budget: DecodeBudget): Writer<OtlpLogRecord> {
  const { userId } = context.caller
  const extraction = deps.content.begin()
  const writer = createLogWriter(context.body.bytes.length * rowBytesPerBodyByte, rowBuffers)
  const calls = createCallWriter(deps.split)
  const nowMs = Date.now()
  const taken = `${nowMs}000000`

  const rowOf = (record: OtlpLogRecord, shared: Pick<LogRow, 'resource' | 'scope'>, found: Expansion): LogRow => {
    const body = record.body === undefined ? { text: '', isJson: false } : stored(record.body, false, found)
    const observed = isPlausible(roundedUs(record.observed), nowMs) ? nanosText(record.observed) : '0'
    const event = {
      spanId: idOf(record.spanId, 16),
      eventName: eventNameOf(record),
      body: body.text,
      isBodyJson: body.isJson,
    }
    return {
      ...event,
      at: isSet(record.time) ? nanosText(record.time) : observed === '0' ? taken : observed,
      observed,
      traceId: idOf(record.traceId, 32),
      severity: record.severity > 0 && record.severity <= maxSeverity ? record.severity : 0,
      severityText: record.severityText,
      attributes: textsOf(record.attributes, found, agentEvent(event) !== null),
      ...shared,
    }
  }

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
      })
      const shared = {
        resource: mapText(textsOf(resource, expansion()).values),
        scope: scopeText(scope, expansion()),
      }
      spendOnRows(budget, count * (shared.resource.length + shared.scope.length + projectId.length))
      return (record) => {
        if (isSet(record.time) && !isAcceptable(roundedUs(record.time), nowMs))
          return 'its time is before 2000 or in the future'
        const found = expansion()
        const whole = rowOf(record, shared, found)
        const row = masker === undefined ? whole : maskedLog(masker, whole)
        const id = writer.add(projectId, row, isSet(record.time) ? row.at : '0', deps.clock.next())
        const event = agentEvent(row)
        if (event !== null)
          calls.add(agentCall(event, row, { projectId, userId, id, odd: found.isNonNative, clock: deps.clock.next() }))
        return null
      }
    },
    async append() {
      const before = await extraction.append()
      const records = writer.take()
      if (records.length === 0) return before
      const appended = await deps.log.append('logs', records)
      for (const { rows } of records) rowBuffers.give(rows)
      return [...before, appended, ...(await appendCalls(deps.log, calls.take()))]
    },
  }
}
