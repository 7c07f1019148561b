// Fields that the line of a filter knows: their names, where their values lie, and what such values look like.

export type FieldKind = 'text' | 'list' | 'status' | 'number' | 'money' | 'duration' | 'time'
/** `also`: other words for it. Those with a point are names that programs send, and work; others are offered as it. */
type FilterField = { path: string; kind: FieldKind; also?: readonly string[] }

export const filterFields: Readonly<Record<string, FilterField>> = {
  status: { path: 'summary.weave.status', kind: 'status', also: ['state', 'level', 'result', 'st'] },
  name: { path: 'summary.weave.trace_name', kind: 'text', also: ['display_name', 'trace_name', 'title', 'span_name'] },
  op: { path: 'op_name', kind: 'text', also: ['op_name', 'operation', 'operation_name', 'function'] },
  model: { path: 'summary.weave.models', kind: 'list', also: ['models', 'llm', 'model_name'] },
  tokens: { path: 'summary.weave.tokens', kind: 'number', also: ['total_tokens', 'usage', 'token'] },
  input_tokens: { path: 'summary.weave.input_tokens', kind: 'number', also: ['prompt_tokens', 'tokens_in'] },
  output_tokens: { path: 'summary.weave.output_tokens', kind: 'number', also: ['completion_tokens', 'tokens_out'] },
  cost: { path: 'summary.weave.cost', kind: 'money', also: ['price', 'costs', 'total_cost', 'usd'] },
  latency: { path: 'summary.weave.latency_ms', kind: 'duration', also: ['latency_ms', 'took', 'time_ms'] },
  error: { path: 'exception', kind: 'text', also: ['exception', 'message', 'err'] },
  error_kind: { path: 'summary.weave.error_kind', kind: 'text', also: ['error_group', 'error_class', 'issue'] },
  started: { path: 'started_at', kind: 'time', also: ['started_at', 'start', 'time', 'since', 'timestamp', 'date'] },
  ended: { path: 'ended_at', kind: 'time', also: ['ended_at', 'end', 'until'] },
  user: { path: 'wb_user_id', kind: 'text', also: ['platform_user_id', 'wb_user_id', 'owner', 'key'] },
  end_user: {
    path: 'attributes.end_user',
    kind: 'text',
    also: ['user.id', 'enduser.id', 'langfuse.user.id', 'user_id', 'enduser', 'customer'],
  },
  thread: {
    path: 'thread_id',
    kind: 'text',
    also: ['session.id', 'gen_ai.conversation.id', 'langfuse.session.id', 'thread_id', 'session', 'conversation'],
  },
  turn: { path: 'turn_id', kind: 'text', also: ['turn_id'] },
  run: { path: 'wb_run_id', kind: 'text', also: ['platform_run_id', 'wb_run_id', 'run_id'] },
  trace: { path: 'trace_id', kind: 'text', also: ['trace_id'] },
  id: { path: 'id', kind: 'text', also: ['call', 'call_id', 'span', 'span_id'] },
  parent: { path: 'parent_id', kind: 'text', also: ['parent_id', 'parent_span_id'] },
  queue: { path: 'annotation_queue_items.queue_id', kind: 'text', also: ['queue_id', 'annotation_queue'] },
  ref: { path: 'input_refs', kind: 'list', also: ['refs', 'input_refs'] },
}

/** The kind of rows of a list: with traces, some fields are those of the whole trace of a root. */
export type RowsOf = 'calls' | 'traces'

type TraceField = FilterField & {
  /** Where calls have no such field: the one that is near to it, null = none. */
  ofCalls?: string | null
}

/** Fields of whole traces. Those of calls that have the same name mean this in a list of traces. */
const ofWholeTraces: Readonly<Record<string, TraceField>> = {
  errors: { path: 'trace.errors', kind: 'number', also: ['error_count', 'failures'], ofCalls: null },
  spans: { path: 'trace.spans', kind: 'number', also: ['span_count', 'calls'], ofCalls: null },
  duration: { path: 'trace.duration_ms', kind: 'duration', also: ['duration_ms'], ofCalls: 'latency' },
  model: { path: 'trace.models', kind: 'list' },
  tokens: { path: 'trace.total_tokens', kind: 'number' },
  input_tokens: { path: 'trace.input_tokens', kind: 'number' },
  output_tokens: { path: 'trace.output_tokens', kind: 'number' },
  cost: { path: 'trace.cost', kind: 'money' },
}

const ofTrace = (name: string): TraceField | undefined =>
  Object.hasOwn(ofWholeTraces, name) ? ofWholeTraces[name] : undefined

/** Whether a field says something of the whole trace in such a list. */
export const isOfTrace = (name: string, rows: RowsOf): boolean => rows === 'traces' && ofTrace(name) !== undefined

/** Whether calls have no such field; every trace has it. */
export const isOfTracesAlone = (name: string): boolean => ofTrace(name)?.ofCalls !== undefined

/** All fields that a list has, with what their values look like. */
export const fieldsOfRows = (rows: RowsOf): [name: string, kind: FieldKind][] =>
  Object.entries({ ...filterFields, ...(rows === 'traces' && ofWholeTraces) }).map(([name, { kind }]) => [name, kind])

export const statusValues = ['error', 'success', 'running', 'descendant_error'] as const
/** Words for a status that other products have. */
export const statusWords: Readonly<Record<string, (typeof statusValues)[number]>> = {
  failed: 'error',
  failure: 'error',
  fail: 'error',
  exception: 'error',
  ok: 'success',
  succeeded: 'success',
  successful: 'success',
  passed: 'success',
  done: 'success',
  completed: 'success',
  pending: 'running',
  started: 'running',
  unfinished: 'running',
  error_below: 'descendant_error',
}

const documents = ['inputs', 'output', 'attributes', 'summary'] as const
const given = ['feedback', 'scorer'] as const
/** First words of names that hold others, and words that stand for one of them. */
const spaces: ReadonlyMap<string, string> = new Map([
  ['input', 'inputs'],
  ['outputs', 'output'],
  ['attribute', 'attributes'],
  ['attr', 'attributes'],
  ['attrs', 'attributes'],
  ['feedbacks', 'feedback'],
  ['scorers', 'scorer'],
  ['meta', 'metadata'],
])

const sentName = new Map(
  Object.entries(filterFields).flatMap(([name, { also = [] }]) =>
    also.filter((one) => one.includes('.')).map((one) => [one, name] as const),
  ),
)
const own = (name: string, rows: RowsOf = 'calls'): FilterField | undefined =>
  (rows === 'traces' && ofTrace(name)) ||
  (Object.hasOwn(filterFields, name) ? filterFields[name] : filterFields[sentName.get(name) ?? ''])

const isDocument = (name: string): boolean => documents.some((one) => name === one || name.startsWith(`${one}.`))
const isGiven = (name: string): boolean =>
  given.some((one) => name.startsWith(`${one}.`) && name.length > one.length + 1)

/** The kind of a field's values; undefined where they may be anything. */
export const kindOfField = (name: string): FieldKind | undefined => own(name, 'traces')?.kind

/**
 * Possible paths of a field's values. Names that are no field of this table and no part of a payload are those of
 * attributes, as programs send them: of calls, and of spans; `resource.` also stands for the resource of a span.
 */
export function pathsOf(name: string, rows: RowsOf = 'calls'): readonly [string, ...string[]] {
  const field = own(name, rows)
  if (field) return [field.path]
  const feedback = /^feedback\.([^.]+)$/.exec(name)
  if (feedback) return [`feedback.[wandb.annotation.${feedback[1]}].payload.value`]
  const scorer = /^scorer\.([^.]+)(?:\.(.+))?$/.exec(name)
  if (scorer) return [`feedback.[wandb.runnable.${scorer[1]}].payload.output${scorer[2] ? `.${scorer[2]}` : ''}`]
  if (isDocument(name) || isGiven(name) || !name.includes('.')) return [name]
  // The name may also be one that a call or span has.
  const [, ofResource] = /^resource\.(?:attributes\.)?(.+)$/.exec(name) ?? []
  return [
    `attributes.${name}`,
    `attributes.otel_span.attributes.${name}`,
    ...(ofResource === undefined ? [] : [`attributes.otel_span.resource.attributes.${ofResource}`]),
  ]
}
export const pathOf = (name: string, rows: RowsOf = 'calls'): string => pathsOf(name, rows)[0]

/** Number of letters that have to change; two swapped letters count as one. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min((last[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1)
      next.push(least)
    }
    before = last
    last = next
  }
  return last[b.length] ?? 0
}

/** The nearest of some words: one that begins so, or that differs by a few letters. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const low = typed.toLowerCase()
  if (low.length > 40) return undefined
  const begun = low.length >= 2 ? words.find((word) => word.startsWith(low)) : undefined
  const [best] = words
    .map((word) => ({ word, far: editDistance(low, word) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(Math.min(word.length, low.length) / 3)))
    .sort((a, b) => a.far - b.far)
  return best?.far === 1 || begun === undefined ? (best?.word ?? begun) : begun
}

const wordsOf = (fields: Readonly<Record<string, FilterField>>) =>
  new Map(
    Object.entries(fields).flatMap(([name, { also = [] }]) => [name, ...also].map((word) => [word, name] as const)),
  )
const byWordOf: Record<RowsOf, ReadonlyMap<string, string>> = {
  calls: wordsOf(filterFields),
  traces: new Map([...wordsOf(filterFields), ...wordsOf(ofWholeTraces)]),
}

/** Whether a name, or the field that its word stands for, has times as values. */
export const takesTimes = (name: string): boolean => own(byWordOf.calls.get(name) ?? name)?.kind === 'time'

/** The field that is meant by a name that is none; undefined where nothing is near. */
function nearestField(name: string, rows: RowsOf): string | undefined {
  const byWord = byWordOf[rows]
  const [first = '', ...rest] = name.split('.')
  if (rest.length > 0) {
    const all = [...documents, ...given, 'metadata']
    const space =
      spaces.get(first.toLowerCase()) ??
      all.find((one) => one.length > 5 && editDistance(first.toLowerCase(), one) === 1)
    return space && [space, ...rest].join('.')
  }
  const word = byWord.get(name.toLowerCase())
  if (word !== undefined) return word
  const near = nearest(
    name,
    [...byWord.keys(), ...documents, ...spaces.keys()].filter((one) => !one.includes('.')),
  )
  return near === undefined ? undefined : (byWord.get(near) ?? spaces.get(near) ?? near)
}

/** Whether a name is a field of the filters of such a list; where it is none, the one that is meant. */
export function fieldFault(
  name: string,
  rows: RowsOf = 'calls',
): { meant: string | undefined; isOfTraces?: boolean } | undefined {
  if (own(name, rows) || isDocument(name) || isGiven(name)) return undefined
  if (isOfTracesAlone(name)) return { meant: ofTrace(name)?.ofCalls ?? undefined, isOfTraces: true }
  const isSent = name.includes('.') && !name.startsWith('.') && !name.endsWith('.')
  const meant = nearestField(name, rows)
  // A name of two parts is one that a program sent, unless it is nearly one of the page's own.
  return isSent && (meant === undefined || meant === name) ? undefined : { meant }
}
