// A filter's tree as the request of /calls/stream_query: its `filter` object and its `query` expression.
import { isOfTrace, kindOfField, pathOf, pathsOf, type RowsOf } from './filter-fields.ts'
import type { Expression, Literal, Operator, Term } from './query-text.ts'
import { writtenMs } from './zone-clock.ts'

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
  user: 'wb_user_ids',
  run: 'wb_run_ids',
  ref: 'input_refs',
}

/** Values of these are numbers by nature; those of payloads are converted. */
const isTyped = (name: string): boolean => !['text', 'list', undefined].includes(kindOfField(name))

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
export const isDocument = (path: string): boolean => /^(?:inputs|output|attributes|summary)(?:\.|$)/.test(path)

/** The error with its type: the exception of a span is the message alone. */
const errorText = 'summary.weave.error'
const isFailed: Operation = { $eq: [field('summary.weave.status'), value('error')] }

const anyOf = (all: Operation[]): Operation => (all.length === 1 ? (all[0] as Operation) : { $or: all })
const allOf = (all: Operation[]): Operation => (all.length === 1 ? (all[0] as Operation) : { $and: all })

/** `op:answer` is the plain name and every version of the op. */
const opNames = (project: string, literal: Literal): string[] =>
  String(literal).startsWith('weave:///') ? [String(literal)] : [String(literal), `weave:///${project}/op/${literal}:*`]

/** Whole elements of lists, whatever their case. */
const isIn = (path: string, literal: Literal): Operation => contains(path, String(literal))

/** The zone of times that name none. */
export type ZoneOf = () => string

/** The list that an expression is read for. */
type Place = { project: string; rows: RowsOf; zoneOf: ZoneOf }

/** A text in any of its spellings at one of some places. */
const holdsText = (paths: readonly string[], text: string): Operation =>
  anyOf(paths.flatMap((path) => spellings(text).map((one) => contains(path, one))))

function condition(name: string, operator: Operator, values: Literal[], place: Place): Operation {
  // The status narrows the calls before their spans are read.
  if (name === 'error' && operator === '~')
    return allOf([isFailed, anyOf(values.map((one) => holdsText([errorText], String(one))))])
  return anyOf(pathsOf(name, place.rows).map((path) => conditionAt(path, name, operator, values, place)))
}

/** Where the names of all models of a call, or of its trace, stand as one text. */
const modelText: Record<RowsOf, string> = { calls: 'summary.weave.model', traces: 'trace.model' }

function conditionAt(
  path: string,
  name: string,
  operator: Operator,
  values: Literal[],
  { project, rows, zoneOf }: Place,
): Operation {
  const isList = kindOfField(name) === 'list'
  if (isList && operator !== '~') return anyOf(values.map((one) => isIn(path, one)))
  // Within the names of a call's models; refs have no such text.
  if (name === 'model') return anyOf(values.map((one) => contains(modelText[rows], String(one))))
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
  return anyOf(values.map((one) => ({ [compare[operator]]: comparedAt(path, name, one, zoneOf) })))
}

/** A field and the value that it is compared with, both in the form of its kind. */
function comparedAt(path: string, name: string, one: Literal, zoneOf: ZoneOf): Operation[] {
  if (kindOfField(name) === 'time') return [field(path), value(writtenMs(String(one), zoneOf) / 1000)]
  const isNumber = typeof one === 'number' && !isTyped(name)
  return [isNumber ? { $convert: { input: field(path), to: 'double' } } : field(path), value(one)]
}

const isSome = (list: string): Operation => ({ $gt: [{ $size: field(list) }, value(0)] })
const exists = (path: string): Operation => ({
  $eq: [{ $convert: { input: field(path), to: 'exists' } }, value(true)],
})

/** That a call, or its trace, has a field. What a trace used is a number also where it used nothing. */
function hasField(name: string, { rows }: Place): Operation {
  if (kindOfField(name) === 'list') return isSome(pathOf(name, rows))
  const some = anyOf(pathsOf(name, rows).map(exists))
  return isOfTrace(name, rows) ? allOf([isSome('trace.models'), some]) : some
}

function operationOf(term: Term, place: Place): Operation {
  const plain = ((): Operation => {
    switch (term.type) {
      case 'group':
        return anyOf(term.any.map((all) => allOf(all.map((one) => operationOf(one, place)))))
      case 'has':
        return hasField(term.field, place)
      case 'is':
        return term.what === 'root'
          ? { $eq: [field('parent_id'), value(null)] }
          : { $eq: [field('summary.weave.status'), value('running')] }
      case 'word':
        return holdsText(['inputs', 'output', errorText], term.text)
      case 'cond':
        return condition(term.field, term.operator, term.values, place)
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

/** @property rows what the list shows: with traces some terms mean the whole trace of a root */
type Asked = Bounds & { rows?: RowsOf; zoneOf: ZoneOf }

export function requestOf(any: Expression, project: string, { from, to, rows = 'calls', zoneOf }: Asked): CallsRequest {
  const place = { project, rows, zoneOf }
  const filter: Record<string, unknown> = {}
  const operations: Operation[] = []
  const [only] = any
  if (any.length === 1 && only !== undefined)
    operations.push(...only.filter((one) => !intoFilter(filter, one, project)).map((one) => operationOf(one, place)))
  else if (any.length > 1) operations.push(anyOf(any.map((all) => allOf(all.map((one) => operationOf(one, place))))))
  if (from !== undefined) operations.push({ $gte: [field('started_at'), value(from)] })
  if (to !== undefined) operations.push({ $lt: [field('started_at'), value(to)] })
  return operations.length === 0 ? { filter } : { filter, query: { $expr: allOf(operations) } }
}
