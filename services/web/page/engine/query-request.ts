// A filter's tree as the request of /calls/stream_query: its `filter` object and its `query` expression.
import type { Expression, Literal, Operator, Term } from './query-text.ts'

type Operation = Record<string, unknown>
export type CallsRequest = { filter: Record<string, unknown>; query?: { $expr: Operation } }

const field = (name: string): Operation => ({ $getField: name })
const value = (literal: Literal): Operation => ({ $literal: literal })

/** Fields of the filter object, which indexes serve. */
const filterLists: Record<string, string> = {
  trace: 'trace_ids',
  thread: 'thread_ids',
  turn: 'turn_ids',
  id: 'call_ids',
  parent: 'parent_ids',
  user: 'platform_user_ids',
  run: 'platform_run_ids',
  ref: 'input_refs',
}

const fieldNames: Record<string, string> = {
  status: 'summary.weave.status',
  latency: 'summary.weave.latency_ms',
  error: 'exception',
  name: 'display_name',
  started: 'started_at',
  ended: 'ended_at',
  op: 'op_name',
  trace: 'trace_id',
  thread: 'thread_id',
  turn: 'turn_id',
  id: 'id',
  parent: 'parent_id',
  user: 'platform_user_id',
  run: 'platform_run_id',
  queue: 'annotation_queue_items.queue_id',
}

export function pathOf(name: string): string {
  const feedback = /^feedback\.([^.]+)$/.exec(name)
  if (feedback) return `feedback.[wandb.annotation.${feedback[1]}].payload.value`
  const scorer = /^scorer\.([^.]+)(?:\.(.+))?$/.exec(name)
  if (scorer) return `feedback.[wandb.runnable.${scorer[1]}].payload.output${scorer[2] ? `.${scorer[2]}` : ''}`
  return fieldNames[name] ?? name
}

/** Values of these are numbers by nature; those of payloads are converted. */
const isTyped = (name: string): boolean => ['latency', 'started', 'ended'].includes(name)

const compare: Record<'>' | '>=' | '<' | '<=', string> = { '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte' }
const contains = (name: string, text: string): Operation => ({
  $contains: { input: field(name), substr: value(text), case_insensitive: true },
})
/** The text as JSON writes it in a string; engines spell the two line separators as well. */
const inJson = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16)}`)

/** A text that is looked for in JSON: as it stands, in a string, and in a string of JSON that is a string itself. */
function spellings(text: string): string[] {
  const once = inJson(text)
  return [...new Set([text, once, inJson(once)])]
}

/** Fields that may be whole documents, or parts of them that are no texts. */
const isDocument = (path: string): boolean => /^(?:inputs|output|attributes|summary)(?:\.|$)/.test(path)

const anyOf = (all: Operation[]): Operation => (all.length === 1 ? (all[0] as Operation) : { $or: all })
const allOf = (all: Operation[]): Operation => (all.length === 1 ? (all[0] as Operation) : { $and: all })

/** `op:answer` is the plain name and every version of the op. */
const opNames = (project: string, literal: Literal): string[] =>
  String(literal).startsWith('weave:///') ? [String(literal)] : [String(literal), `weave:///${project}/op/${literal}:*`]

function condition(name: string, operator: Operator, values: Literal[], project: string): Operation {
  const path = pathOf(name)
  if (operator === '~')
    return anyOf(
      values.flatMap((one) =>
        (isDocument(path) ? spellings(String(one)) : [String(one)]).map((text) => contains(path, text)),
      ),
    )
  if (operator === ':' || operator === '=') {
    if (name === 'op')
      return anyOf(
        values.flatMap((one) => [{ $eq: [field(path), value(one)] }, contains(path, `weave:///${project}/op/${one}:`)]),
      )
    return anyOf(values.map((one) => ({ $eq: [field(path), value(one)] })))
  }
  const [first = null] = values
  const isNumber = typeof first === 'number' && !isTyped(name)
  const input = isNumber ? { $convert: { input: field(path), to: 'double' } } : field(path)
  const right = name === 'started' || name === 'ended' ? value(Date.parse(String(first)) / 1000) : value(first)
  return { [compare[operator]]: [input, right] }
}

function operationOf(term: Term, project: string): Operation {
  const plain = ((): Operation => {
    switch (term.type) {
      case 'group':
        return anyOf(term.any.map((all) => allOf(all.map((one) => operationOf(one, project)))))
      case 'has':
        return { $eq: [{ $convert: { input: field(pathOf(term.field)), to: 'exists' } }, value(true)] }
      case 'is':
        return term.what === 'root'
          ? { $eq: [field('parent_id'), value(null)] }
          : { $eq: [field('summary.weave.status'), value('running')] }
      case 'word':
        return anyOf(['inputs', 'output'].flatMap((path) => spellings(term.text).map((text) => contains(path, text))))
      case 'cond':
        return condition(term.field, term.operator, term.values, project)
      default:
        return term satisfies never
    }
  })()
  return term.not ? { $not: [plain] } : plain
}

/** Whether a term goes into the filter object: a plain condition of the only conjunction. */
function intoFilter(filter: Record<string, unknown>, term: Term, project: string): boolean {
  if (term.not) return false
  if (term.type === 'is' && term.what === 'root') {
    filter.trace_roots_only = true
    return true
  }
  if (term.type !== 'cond' || (term.operator !== ':' && term.operator !== '=')) return false
  const name = term.field === 'op' ? 'op_names' : filterLists[term.field]
  if (name === undefined || filter[name] !== undefined) return false
  filter[name] =
    term.field === 'op' ? term.values.flatMap((one) => opNames(project, one)) : term.values.map((one) => String(one))
  return true
}

/** Bounds of the page's time range, in seconds since 1970. */
export type Bounds = { from?: number | undefined; to?: number | undefined }

export function requestOf(any: Expression, project: string, { from, to }: Bounds = {}): CallsRequest {
  const filter: Record<string, unknown> = {}
  const operations: Operation[] = []
  const [only] = any
  if (any.length === 1 && only !== undefined)
    operations.push(...only.filter((one) => !intoFilter(filter, one, project)).map((one) => operationOf(one, project)))
  else if (any.length > 1) operations.push(anyOf(any.map((all) => allOf(all.map((one) => operationOf(one, project))))))
  if (from !== undefined) operations.push({ $gte: [field('started_at'), value(from)] })
  if (to !== undefined) operations.push({ $lt: [field('started_at'), value(to)] })
  return operations.length === 0 ? { filter } : { filter, query: { $expr: allOf(operations) } }
}
