// Coding agents tell what they do in log records: which event is which call, or which part of the call of its span, as data.
import { quoted } from '../../events/declaration.ts'
import { agentDigest, agentEventKinds, agentPlaceKeys, turnIdOf } from '../../events/gen-ai-events.ts'
import type { LogRow, WrittenRow } from '../../events/logs.ts'
import type { UsageField } from './convention-keys.ts'
import { textOf } from './find.ts'
import type { CompleteCall } from './map.ts'
import { shortOpName } from './names.ts'
import type { LogAttributes } from './spans.ts'
import { type SpanUsage, summaryText, usageEntry } from './usage.ts'
import type { Value } from './values.ts'

type Kind = (typeof agentEventKinds)[keyof typeof agentEventKinds]

const longestName = Math.max(...Object.keys(agentEventKinds).map(({ length }) => length))

/** Bodies are asked too: a long text is no name, and is not looked up. */
const isNamed = (name: unknown): name is keyof typeof agentEventKinds =>
  typeof name === 'string' && name !== '' && name.length <= longestName && Object.hasOwn(agentEventKinds, name)

/** Events that are calls only where they have this attribute: those of a stream, of which the last counts tokens. */
const needed: Readonly<Record<string, string>> = { 'codex.sse_event': 'input_token_count' }

/** Attributes of these events, the first present one counts. */
const keys = {
  ...agentPlaceKeys,
  durationMs: ['duration_ms'],
  model: ['model'],
  cost: ['cost_usd'],
  tool: ['tool_name', 'function_name'],
  success: ['success'],
  error: ['error', 'error.message', 'error_message'],
} as const

const usageKeys: Partial<Record<UsageField, readonly string[]>> = {
  input_tokens: ['input_tokens', 'input_token_count'],
  output_tokens: ['output_tokens', 'output_token_count'],
  total_tokens: ['total_token_count'],
  cache_read_input_tokens: ['cache_read_tokens', 'cached_token_count', 'cached_content_token_count'],
  cache_creation_input_tokens: ['cache_creation_tokens'],
}

/** Inputs and output of a call, under the names that the agent gives them. */
const contents: Readonly<Record<Kind, { inputs: readonly string[]; output: readonly string[] }>> = {
  prompt: { inputs: ['prompt'], output: [] },
  llm: { inputs: ['request_text'], output: ['response_text'] },
  tool: { inputs: ['tool_input', 'tool_parameters', 'arguments', 'function_args'], output: ['output', 'result'] },
  error: { inputs: [], output: [] },
}

/** Names of contents and counts among the attributes of a span, in which a record with a span fills gaps. */
const spanKeys = {
  contents: {
    prompt: { inputs: 'gen_ai.prompt', output: '' },
    llm: { inputs: 'gen_ai.prompt', output: 'gen_ai.completion' },
    tool: { inputs: 'gen_ai.tool.call.arguments', output: 'gen_ai.tool.call.result' },
    error: { inputs: '', output: '' },
  },
  usage: {
    input_tokens: 'gen_ai.usage.input_tokens',
    output_tokens: 'gen_ai.usage.output_tokens',
    total_tokens: 'llm.usage.total_tokens',
    cache_read_input_tokens: 'gen_ai.usage.cache_read.input_tokens',
    cache_creation_input_tokens: 'gen_ai.usage.cache_creation.input_tokens',
  } as Partial<Record<UsageField, string>>,
  model: 'gen_ai.request.model',
  cost: 'operation.cost',
  tool: 'gen_ai.tool.name',
  session: 'gen_ai.conversation.id',
  kind: 'openinference.span.kind',
} as const

/** Whether it failed: as its kind or the agent says, else where it tells of an error. */
const hasFailed = (kind: Kind, success: string, error: string): boolean =>
  kind === 'error' || success === 'false' || (success === '' && error !== '')

const shownKind: Readonly<Record<Kind, string>> = { prompt: 'agent', llm: 'llm', tool: 'tool', error: 'llm' }

/** Milliseconds of a day: what claims to have taken longer took no time that is known. */
const maxMs = 86_400_000

/** JSON text of a stored text: documents as they are, everything else as a string. */
function documentText(text: string, isJson: boolean): string {
  if (isJson) return text
  const first = text.charCodeAt(0)
  if (first === 123 || first === 91)
    try {
      JSON.parse(text)
      if (!/[\r\n]/.test(text)) return text
    } catch {
      // no document
    }
  return quoted(text)
}

/**
 * The kind of an agent's event. Its full name may stand in the body, behind a short one, or in an attribute, beside the name
 * of a place in its program; what came as bytes is longer than a name.
 */
export function agentEvent(
  { eventName, body, isBodyJson }: Pick<WrittenRow, 'eventName' | 'body' | 'isBodyJson'>,
  { keys: own, values }: LogAttributes,
): { name: string; kind: Kind } | null {
  for (const name of [eventName, isBodyJson ? '' : body, values[own.lastIndexOf('event.name')]]) {
    if (!isNamed(name)) continue
    const need = needed[name]
    return need === undefined || own.includes(need) ? { name, kind: agentEventKinds[name] } : null
  }
  return null
}

/**
 * The span members of an agent's record: attributes as a span would have them, and its failure; null for other events.
 */
export function agentMembers(
  eventName: string,
  members: ReadonlyMap<string, Value>,
): { attributes: Map<string, Value>; exception: string } | null {
  if (!isNamed(eventName)) return null
  const kind = agentEventKinds[eventName]
  const of = (names: readonly string[]): Value =>
    names.map((name) => members.get(name)).find((value) => value !== undefined && value !== '') ?? ''
  const attributes = new Map<string, Value>([[spanKeys.kind, shownKind[kind]]])
  const add = (key: string, names: readonly string[]): void => {
    const value = of(names)
    if (key !== '' && value !== '') attributes.set(key, value)
  }
  add(spanKeys.session, keys.session)
  add(spanKeys.contents[kind].inputs, contents[kind].inputs)
  add(spanKeys.contents[kind].output, contents[kind].output)
  if (kind === 'tool') add(spanKeys.tool, keys.tool)
  if (kind === 'llm' || kind === 'error') add(spanKeys.model, keys.model)
  if (kind === 'llm') {
    const cost = Number(of(keys.cost) || Number.NaN)
    if (Number.isFinite(cost)) attributes.set(spanKeys.cost, cost)
    for (const [field, names] of Object.entries(usageKeys)) add(spanKeys.usage[field as UsageField] ?? '', names)
  }
  const error = textOf(of(keys.error))
  return { attributes, exception: hasFailed(kind, String(of(keys.success)), error) ? error || 'ERROR' : '' }
}

export type AgentSurroundings = {
  projectId: string
  userId: string
  clock: bigint
  /** Id of the record. */
  id: string
  /** Some number of the record is outside of what the engine reads. */
  odd: boolean
}

/** The value of the first of these attributes that has one, '' when none has. */
const firstOf = (row: LogRow, names: readonly string[]): string => {
  for (const name of names) {
    const found = row.attributes.values.get(name)
    if (found) return found
  }
  return ''
}

/** An object with the first of these attributes that has a value. */
function memberOf({ attributes: { values, json } }: LogRow, names: readonly string[]): string {
  const found = names.find((one) => values.get(one))
  if (found === undefined) return '{}'
  return `{${quoted(found)}:${documentText(values.get(found) as string, json.includes(found))}}`
}

function usageOf(kind: Kind, row: LogRow): SpanUsage {
  const counts: SpanUsage['counts'] = new Map()
  if (kind === 'llm')
    for (const [field, names] of Object.entries(usageKeys)) {
      const count = Number(firstOf(row, names) || Number.NaN)
      if (Number.isSafeInteger(count) && count >= 0) counts.set(field as UsageField, count)
    }
  const sum = Number(counts.get('input_tokens')) + Number(counts.get('output_tokens'))
  if (!counts.has('total_tokens') && Number.isSafeInteger(sum)) counts.set('total_tokens', sum)
  return { isPresent: counts.size > 0, counts }
}

/** JSON text of the call's attributes: the record's, the kind, and what the agent says that it cost. */
function attributesOf(kind: Kind, row: LogRow): string {
  const { values, json } = row.attributes
  const attributes = new Map<string, string>()
  for (const [key, text] of values) attributes.set(key, documentText(text, json.includes(key)))
  attributes.set('kind', `"${shownKind[kind]}"`)
  const cost = Number(firstOf(row, keys.cost) || Number.NaN)
  if (Number.isFinite(cost)) attributes.set('reported_cost_usd', String(cost))
  return `{${[...attributes].map(([key, text]) => `${quoted(key)}:${text}`).join()}}`
}

/**
 * Its place in the trace of its session: a prompt is the root of a turn, everything else lies below one. The worker
 * puts events without a prompt below the last one before them (services/derived/logs/turns.ts).
 */
function placeOf(kind: Kind, id: string, session: string, prompt: string) {
  const turn = turnIdOf(session, prompt)
  const traceId = session === '' ? id : agentDigest('trace', session, prompt)
  if (kind !== 'prompt') return { id, traceId, parentId: turn, threadId: session, turnId: '' }
  return { id: turn || id, traceId, parentId: '', threadId: session, turnId: session === '' ? '' : turn || id }
}

/** The call of an agent's event. Everything about it follows from the record: sent again it is the same call. */
export function agentCall(event: { name: string; kind: Kind }, row: LogRow, around: AgentSurroundings): CompleteCall {
  const { name, kind } = event
  const of = (key: keyof typeof keys): string => firstOf(row, keys[key])
  const session = of('session')
  const tookMs = Math.round(Number(of('durationMs')))
  const endedUs = Number(row.at.slice(0, -3))
  const model = of('model') || 'usage'
  const usage = usageOf(kind, row)
  return {
    kind: 'complete',
    projectId: around.projectId,
    // Some agents name their session where they have no prompt to name.
    ...placeOf(kind, around.id, session, of('prompt') === session ? '' : of('prompt')),
    clock: around.clock,
    odd: around.odd,
    startedUs: tookMs > 0 && tookMs <= maxMs ? endedUs - tookMs * 1_000 : endedUs,
    endedUs,
    opName: shortOpName(kind === 'tool' ? `tool:${of('tool') || 'unknown'}` : name),
    displayName: null,
    userId: around.userId,
    runId: '',
    runStep: null,
    runStepEnd: null,
    exception: hasFailed(kind, of('success'), of('error')) ? of('error') || 'ERROR' : '',
    errorCount: 0,
    usage: usageEntry(usage, model),
    inputRefs: [],
    outputRefs: [],
    attributes: attributesOf(kind, row),
    inputs: memberOf(row, contents[kind].inputs),
    output: memberOf(row, contents[kind].output),
    summary: summaryText(usage, model),
    otelDump: '',
  }
}
