// A call record of the wire, reduced to what a row shows. Runs in the worker: long payloads never reach the page.
import { lastSaid } from './conversation.ts'
import { lineOfThrown } from './thrown.ts'

export type Status = 'success' | 'error' | 'running' | 'descendant_error'

export const statusNames: Record<Status, string> = {
  success: 'Success',
  error: 'Error',
  running: 'Running',
  descendant_error: 'Error below',
}

export type Row = {
  id: string
  traceId: string
  parentId: string | null
  opName: string
  name: string
  kind: SpanKind
  status: Status
  startedAt: string
  startedUs: number
  endedUs: number | null
  latencyMs: number | null
  exception: string | null
  model: string | null
  tokensIn: number | null
  tokensOut: number | null
  cost: number | null
  /** Models whose tokens are not in the cost: they have no price. */
  unpriced?: readonly string[]
  userId: string | null
  threadId: string | null
  size: number | null
}

export const spanKinds = ['agent', 'llm', 'tool', 'retrieval', 'embedding', 'evaluation', 'guardrail', 'other'] as const
export type SpanKind = (typeof spanKinds)[number]

/** Words of `gen_ai.operation.name`, OpenInference, OpenLLMetry and Weave for one kind. */
const kindWords: Record<string, SpanKind> = {
  agent: 'agent',
  invoke_agent: 'agent',
  create_agent: 'agent',
  chain: 'agent',
  workflow: 'agent',
  invoke_workflow: 'agent',
  plan: 'agent',
  task: 'agent',
  llm: 'llm',
  chat: 'llm',
  completion: 'llm',
  text_completion: 'llm',
  generate_content: 'llm',
  tool: 'tool',
  execute_tool: 'tool',
  retriever: 'retrieval',
  retrieval: 'retrieval',
  search: 'retrieval',
  reranker: 'retrieval',
  memory: 'retrieval',
  search_memory: 'retrieval',
  create_memory: 'retrieval',
  update_memory: 'retrieval',
  upsert_memory: 'retrieval',
  delete_memory: 'retrieval',
  create_memory_store: 'retrieval',
  delete_memory_store: 'retrieval',
  embedding: 'embedding',
  embeddings: 'embedding',
  evaluator: 'evaluation',
  evaluation: 'evaluation',
  scorer: 'evaluation',
  guardrail: 'guardrail',
}

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const own = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined)
const asCount = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

const opForm = /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^:]+):/

/** The plain name of an op: of a ref its object's name. */
export function opNameOf(opName: string): string {
  const encoded = opForm.exec(opName)?.[1]
  if (encoded === undefined) return opName
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

const kindPaths = [
  ['operation_name'],
  ['weave', 'span', 'kind'],
  ['weave', 'kind'],
  ['openinference', 'span', 'kind'],
  ['traceloop', 'span', 'kind'],
  ['gen_ai', 'operation', 'name'],
  ['kind'],
]

/** A value at a path, whether its keys are nested or joined by dots. */
function atPath(members: Members, path: readonly string[]): unknown {
  const flat = own(members, path.join('.'))
  if (flat !== undefined) return flat
  let value: unknown = members
  for (const key of path) value = own(asObject(value), key)
  return value
}

/** The semantic conventions begin a span's name with its operation. */
const operationForm = /^(invoke_agent|create_agent|execute_tool|chat|text_completion|generate_content|embeddings)[ _]/

export function kindOf(attributes: unknown, name: string, model: string | null): SpanKind {
  const stored = asObject(attributes)
  if (!hasMembers(stored)) return kindOfName(name, model)
  const span = asObject(own(asObject(own(stored, 'otel_span')), 'attributes'))
  for (const members of [stored, span])
    for (const path of kindPaths) {
      const word = asText(atPath(members, path))?.toLowerCase()
      const kind = word === undefined ? undefined : own(kindWords as Members, word)
      if (kind !== undefined) return kind as SpanKind
    }
  return kindOfName(name, model)
}

function hasMembers(members: Members): boolean {
  for (const _ in members) return true
  return false
}

function kindOfName(name: string, model: string | null): SpanKind {
  const operation = operationForm.exec(name)?.[1]
  if (operation !== undefined) return kindWords[operation] as SpanKind
  if (/^Evaluation\.|^evaluate\b/.test(name)) return 'evaluation'
  return model === null ? 'other' : 'llm'
}

/** Usage of calls that name no model stands under this name. */
const unnamedModel = 'usage'

export function usageOf(summary: Members): Pick<Row, 'model' | 'tokensIn' | 'tokensOut' | 'cost' | 'unpriced'> {
  const usage = Object.entries(asObject(own(summary, 'usage')))
  const names = usage.map(([name]) => name).filter((name) => name !== unnamedModel)
  const priced = asObject(own(asObject(own(summary, 'weave')), 'costs'))
  const unpriced: string[] = []
  let tokensIn = 0
  let tokensOut = 0
  for (const [name, one] of usage) {
    const counts = asObject(one)
    const asked = asCount(own(counts, 'prompt_tokens')) || asCount(own(counts, 'input_tokens'))
    const answered = asCount(own(counts, 'completion_tokens')) || asCount(own(counts, 'output_tokens'))
    tokensIn += asked
    tokensOut += answered
    if (asked + answered > 0 && !Object.hasOwn(priced, name)) unpriced.push(name)
  }
  const costs = Object.values(priced).map(asObject)
  const cost = costs.reduce(
    (sum, one) =>
      sum +
      [
        'prompt_tokens_total_cost',
        'completion_tokens_total_cost',
        'cache_read_input_tokens_total_cost',
        'cache_creation_input_tokens_total_cost',
      ].reduce((all, key) => all + asCount(own(one, key)), 0),
    0,
  )
  return {
    model: names.length === 0 ? null : names.join(', '),
    tokensIn: usage.length === 0 ? null : tokensIn,
    tokensOut: usage.length === 0 ? null : tokensOut,
    cost: costs.length === 0 ? null : cost,
    ...(unpriced.length > 0 && { unpriced }),
  }
}

/** Calls of a trace share their seconds, and parsing one takes as long as the rest of a row. */
let secondText = ''
let secondUs = 0

/** Microseconds of an ISO time in UTC, as the server writes it: more than a Date keeps. */
export function microsOf(iso: string): number {
  const second = iso.slice(0, 19)
  if (second !== secondText) {
    secondUs = Date.parse(`${second}Z`) * 1000
    secondText = second
  }
  return iso.charAt(19) === '.' ? secondUs + Number(iso.slice(20, -1).slice(0, 6).padEnd(6, '0')) : secondUs
}

const maxException = 2_000

/** The type of the error comes first: texts of SDKs begin with frames, or are JSON. */
function exceptionOf(text: string | null): string | null {
  if (text === null) return null
  const line = lineOfThrown(text)
  return (text.startsWith(line) ? text : `${line}\n${text}`).slice(0, maxException)
}

/** The members that every shape of a call's row has. */
export function rowBasicsOf(
  record: Members,
): Pick<Row, 'id' | 'traceId' | 'startedAt' | 'startedUs' | 'endedUs' | 'latencyMs' | 'exception'> {
  const startedAt = String(own(record, 'started_at') ?? '')
  const endedAt = asText(own(record, 'ended_at'))
  const startedUs = microsOf(startedAt)
  const endedUs = endedAt === null ? null : microsOf(endedAt)
  return {
    id: String(own(record, 'id') ?? ''),
    traceId: String(own(record, 'trace_id') ?? ''),
    startedAt,
    startedUs,
    endedUs,
    latencyMs: endedUs === null ? null : Math.max(0, endedUs - startedUs) / 1000,
    exception: exceptionOf(asText(own(record, 'exception'))),
  }
}

export function rowOf(record: Members): Row {
  const opName = String(own(record, 'op_name') ?? '')
  const summary = asObject(own(record, 'summary'))
  const weave = asObject(own(summary, 'weave'))
  const usage = usageOf(summary)
  const plainName = opNameOf(opName)
  const name = asText(own(record, 'display_name')) ?? plainName
  const user = asText(own(record, 'platform_user_id') ?? own(record, 'wb_user_id'))
  return {
    ...rowBasicsOf(record),
    parentId: asText(own(record, 'parent_id')),
    opName,
    name: name.slice(0, 2_000),
    kind: kindOf(own(record, 'attributes'), plainName, usage.tokensIn === null ? null : ''),
    status: (asText(own(weave, 'status')) ?? 'success') as Status,
    ...usage,
    userId: user,
    threadId: asText(own(record, 'thread_id')),
    size: typeof record.storage_size_bytes === 'number' ? record.storage_size_bytes : null,
  }
}

const previewOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const wholeRef = /^weave:\/\/\/\S{1,280}$/
/** The text of a member among others; a ref without its end would be of something else. */
const memberOf = (value: unknown): string => {
  const text = previewOf(value)
  return wholeRef.test(text) ? text : cutPreview(text, 60)
}

/** Without the beginning of a ref whose end is cut off. */
const cutPreview = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/weave:\/\/\/\S*$/, '…')

/** The text of a value in a cell of inputs or output, in one line. */
export function cellOf(value: unknown, max = 240): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return cutPreview(String(value), max)
  const entries = Object.entries(value)
  const first = entries[0]
  const said = lastSaid(value)
  if (said !== undefined) return cutPreview(said, max)
  if (entries.length === 1 && first !== undefined && !Array.isArray(value)) return cutPreview(previewOf(first[1]), max)
  if (Array.isArray(value)) return `[${value.length}] ${cutPreview(previewOf(value[0]), max)}`
  const members = entries.slice(0, 8).map(([key, one]) => `${key}: ${memberOf(one)}`)
  return cutPreview(members.join('  '), max)
}
