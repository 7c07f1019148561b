// Log records of generative AI as parts of calls: the span is read from its stored form again, and mapped with what they say.
import type { Maskings } from '../../content/masking/maskings.ts'
import {
  type EvaluationResult,
  type EventMapping,
  joinedEvents,
  type StoredLogRecord,
  type StoredSpan,
} from '../../events/gen-ai-events.ts'
import { agentMembers } from './agent-events.ts'
import { createDecodeBudget } from './budget.ts'
import { createConventions } from './conventions.ts'
import { type Expansion, expand } from './expand.ts'
import { textOf } from './find.ts'
import { type CompleteCall, callOf, type SpanSurroundings } from './map.ts'
import type { Extra } from './payloads.ts'
import type { Attributes, OtlpEvent, OtlpSpan } from './spans.ts'
import { parseExact, toValue, type Value } from './values.ts'

type Json = Record<string, unknown>

const codes = ['UNSET', 'OK', 'ERROR']

/** A tree as attributes: its keys hold no dots, so that expanding them gives the tree again. */
function attributesOf(tree: unknown): Attributes {
  const members = Object.entries((tree ?? {}) as Json)
  return { keys: members.map(([key]) => key), values: members.map(([, value]) => toValue(value)) }
}

/** The span of a raw span (dump.ts), without its times and links. */
function spanOf({ id, traceId }: StoredSpan, dump: Json): OtlpSpan {
  const { code, message } = (dump.status ?? {}) as { code?: string; message?: string }
  const none = { us: 0, rest: 0 }
  return {
    traceId,
    spanId: id,
    traceState: '',
    parentSpanId: '',
    name: '',
    kind: 0,
    start: none,
    end: none,
    attributes: attributesOf(dump.attributes),
    events: ((dump.events ?? []) as Json[]).map(
      (event): OtlpEvent => ({
        time: '0',
        name: String(event.name),
        dropped: 0,
        attributes: attributesOf(event.attributes),
      }),
    ),
    links: [],
    statusCode: Math.max(0, codes.indexOf(code ?? '')),
    statusMessage: message ?? '',
    faults: null,
  }
}

/** Lists and objects are read by whoever expands them, like those that came as text. */
const readValue = (text: string, isJson: boolean): Value =>
  !isJson || text.startsWith('{') || text.startsWith('[') ? text : toValue(parseExact(text))

/** Everything that a record says: its attributes, then the members of its body. */
function membersOf({ attributes, json_keys, body, body_json }: StoredLogRecord): Map<string, Value> {
  const json = new Set(json_keys)
  const members = new Map<string, Value>()
  for (const [key, text] of Object.entries(attributes)) members.set(key, readValue(text, json.has(key)))
  if (body_json !== 1 || !body.startsWith('{')) {
    if (body !== '') members.set('body', readValue(body, body_json === 1))
    return members
  }
  for (const [key, value] of Object.entries(parseExact(body) as Json))
    if (!members.has(key)) members.set(key, toValue(value))
  return members
}

const asAttributes = (members: ReadonlyMap<string, Value>): Attributes => ({
  keys: [...members.keys()],
  values: [...members.values()],
})

const messageNames = new Set<string>([...joinedEvents.messages, joinedEvents.choice])

/** The attributes of the records of a span together: of each the first one counts. */
function extraOf(records: readonly StoredLogRecord[], found: Expansion): Extra {
  const details = new Map<string, Value>()
  const events: Extra['events'] = []
  let exception = ''
  for (const record of records) {
    const members = membersOf(record)
    if (messageNames.has(record.event_name)) {
      const attributes = expand(asAttributes(members), found)
      events.push({ name: record.event_name, attributes })
    } else if (record.event_name === joinedEvents.exception)
      exception ||=
        textOf(members.get('exception.message')) || textOf(members.get('exception.type')) || record.event_name
    else {
      const agent = agentMembers(record.event_name, members)
      exception ||= agent?.exception ?? ''
      for (const [key, value] of agent?.attributes ?? members)
        if ((agent !== null || key.startsWith('gen_ai.')) && !details.has(key)) details.set(key, value)
    }
  }
  return { root: expand(asAttributes(details), found), events, exception }
}

/** The joined call where the records added something to it, else what is stored. */
function merged(span: StoredSpan, alone: CompleteCall, joined: CompleteCall): CompleteCall | null {
  const isSame = (name: 'attributes' | 'inputs' | 'output' | 'summary' | 'exception' | 'threadId') =>
    alone[name] === joined[name]
  const kept = {
    attributes: isSame('attributes'),
    inputs: isSame('inputs'),
    output: isSame('output'),
    summary: isSame('summary'),
    exception: isSame('exception'),
    thread: isSame('threadId'),
  }
  if (Object.values(kept).every(Boolean)) return null
  return {
    ...joined,
    startedUs: span.startedUs,
    endedUs: span.endedUs,
    traceId: span.traceId,
    parentId: span.parentId,
    runStep: span.runStep,
    runStepEnd: span.runStepEnd,
    errorCount: span.errorCount,
    runId: span.runId,
    odd: span.odd || joined.odd,
    otelDump: span.otelDump,
    // Log records were masked when they came.
    ...(span.masking && { masking: span.masking }),
    ...(kept.attributes && { attributes: span.attributes }),
    ...(kept.inputs && { inputs: span.inputs, inputRefs: span.inputRefs }),
    ...(kept.output && { output: span.output, outputRefs: span.outputRefs }),
    ...(kept.summary && { summary: span.summary, usage: span.usage }),
    ...(kept.exception && { exception: span.exception }),
    ...(kept.thread && { threadId: span.threadId, turnId: span.turnId }),
  }
}

/** Number, or null for what is none. */
const scoreOf = (value: Value | undefined): number | null => {
  const number = value === undefined || value === null || value === '' ? Number.NaN : Number(textOf(value) || value)
  return Number.isFinite(number) ? number : null
}

const wordForm = /[^\w.-]+/g

export function createEventMapping(
  config: {
    otelVendorNamespaces: readonly string[]
    wirePrefix: string
    otelEventsAsIo: boolean
    maxBodyBytes: number
  },
  maskings: Maskings,
): EventMapping {
  const { otelVendorNamespaces: vendorNamespaces, wirePrefix, otelEventsAsIo: eventsAsIo, maxBodyBytes } = config
  const [plain, weave] = [false, true].map((weaveFirst) =>
    createConventions({ vendorNamespaces, wirePrefix, weaveFirst }),
  ) as [SpanSurroundings['conventions'], SpanSurroundings['conventions']]

  return {
    joined(stored, records, clock) {
      const dump = parseExact(stored.otelDump) as Json
      const span = spanOf(stored, dump)
      const around: SpanSurroundings = {
        projectId: stored.projectId,
        userId: stored.userId,
        runId: stored.runId,
        eventsAsIo,
        maxBodyBytes,
        // The route that took the span is not stored: spans with keys of weave use its conventions.
        conventions: span.attributes.keys.includes('weave') ? weave : plain,
        resource: '{}',
        scope: '',
        scopeName: String((dump.scope as Json | undefined)?.name ?? ''),
        opRef: () => stored.opName,
        extract: () => null,
        masker: maskings.of(stored.projectId),
        resourceIsNonNative: stored.odd,
        nowMs: Date.now(),
      }
      const found: Expansion = {
        extract: () => null,
        isNonNative: false,
        budget: createDecodeBudget(maxBodyBytes),
        faults: null,
      }
      const extra = extraOf(records, found)
      const alone = callOf(span, around, clock)
      const joined = callOf(spanOf(stored, dump), around, clock, extra)
      if ('reason' in alone || 'reason' in joined) return null
      return merged(stored, alone.call, found.isNonNative ? { ...joined.call, odd: true } : joined.call)
    },
    evaluation(record): EvaluationResult | null {
      const members = membersOf(record)
      const text = (key: string): string => textOf(members.get(key))
      const name = text('gen_ai.evaluation.name')
      if (name === '') return null
      const responseId = text('gen_ai.response.id')
      const payload = {
        score_value: scoreOf(members.get('gen_ai.evaluation.score.value')),
        score_label: text('gen_ai.evaluation.score.label') || null,
        explanation: text('gen_ai.evaluation.explanation') || null,
        response_id: responseId || null,
      }
      return {
        feedbackType: `gen_ai.evaluation.${name.replace(wordForm, '_').slice(0, 128)}`,
        payload: JSON.stringify(payload),
        responseId,
      }
    },
  }
}
