// What the address of the calls page says, and the request that follows from it.
import { type Problem, problemsOf } from '../engine/filter-checks.ts'
import { kindOfField, pathOf } from '../engine/filter-fields.ts'
import { type Bounds, type CallsRequest, isDocument, requestOf } from '../engine/query-request.ts'
import { type Expression, parseQuery, QueryFault, termText } from '../engine/query-text.ts'

export type CallsSearch = {
  q?: string | undefined
  view?: 'all' | undefined
  range?: string | undefined
  sort?: string | undefined
  live?: '1' | undefined
  /** Columns beside the usual ones: `inputs,output` unless others are chosen. */
  cols?: string | undefined
  /** Of these columns those that stay in view beside the name, and at the right edge. */
  left?: string | undefined
  right?: string | undefined
  /** The field by which the calls are counted, in a dialog over their list. */
  by?: string | undefined
  /** What sets the calls of the range apart from the others, in a dialog over the list. */
  differs?: '1' | undefined
  tz?: string | undefined
  /** The saved view that the list was opened from. */
  saved?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export const usualColumns: readonly string[] = ['inputs', 'output']
/** Columns that are no fields: the page makes them itself. */
export const madeColumns: readonly string[] = ['feedback', 'size']
export const maxChosenColumns = 20

/** Paths of the columns that stand behind the fixed ones. `-` = none. */
export function columnsOf(cols: string | undefined): string[] {
  if (cols === undefined) return [...usualColumns]
  const paths = cols.split(',').filter((path) => path !== '' && path !== '-')
  return paths.length === 0 ? ['-'] : [...new Set(paths)].slice(0, maxChosenColumns)
}

/** Of the names of pinned columns those that are columns. */
const pinnedOf = (names: unknown, columns: readonly string[]): string[] =>
  columns.filter((path) => path !== '-' && text(names)?.split(',').includes(path))

/** Of the name of a saved view what may be one. */
export function savedOf(value: unknown): string | undefined {
  const saved = text(value)
  return saved && /^[\p{L}\p{N}_.-]{1,128}$/u.test(saved) ? saved : undefined
}

export function callsSearch(search: Record<string, unknown>): CallsSearch {
  const found: CallsSearch = {}
  const q = text(search.q)
  const range = text(search.range)
  const sort = text(search.sort)
  const tz = text(search.tz)
  if (q) found.q = q
  if (search.view === 'all') found.view = 'all'
  if (range && range !== 'all' && boundsOf(range, 0) !== undefined) found.range = range
  if (sort && /^(?:started_at|op_name|latency):(?:asc|desc)$/.test(sort) && sort !== 'started_at:desc')
    found.sort = sort
  if (search.live === '1') found.live = '1'
  const cols = columnsOf(text(search.cols))
  if (cols.join() !== usualColumns.join()) found.cols = cols.join()
  const left = pinnedOf(search.left, cols)
  const right = pinnedOf(search.right, cols).filter((path) => !left.includes(path))
  if (left.length > 0) found.left = left.join()
  if (right.length > 0) found.right = right.join()
  const by = text(search.by)
  if (by && by.length <= 400) found.by = by
  if (search.differs === '1' && found.range) found.differs = '1'
  if (tz) found.tz = tz
  const saved = savedOf(search.saved)
  if (saved) found.saved = saved
  return found
}

export const ranges = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const

/** Bounds in seconds; undefined for what is no range. Two instants stand as `<from>~<to>`, either may be left out. */
export function boundsOf(range: string, nowS: number): Bounds | undefined {
  const length = Object.hasOwn(ranges, range) ? ranges[range as keyof typeof ranges] : undefined
  if (length !== undefined) return { from: nowS - length }
  const [from = '', to = '', ...more] = range.split('~')
  if (more.length > 0 || !range.includes('~')) return undefined
  const at = (one: string) => (one === '' ? undefined : Date.parse(one) / 1000)
  const bounds = { from: at(from), to: at(to) }
  if (Number.isNaN(bounds.from) || Number.isNaN(bounds.to)) return undefined
  return bounds
}

const day = 86_400_000
const inputForm = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?$/

/** What a reader types as a range: `2h`, `yesterday`, `2026-01-05`, `2026-01-05 12:00 to 13:00`. */
export function typedRange(typed: string, now: Date = new Date()): string | undefined {
  const value = typed.trim().toLowerCase()
  if (value === 'all' || Object.hasOwn(ranges, value)) return value
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate())
  const iso = (at: number) => new Date(at).toISOString()
  if (value === 'today') return `${iso(midnight.getTime())}~`
  if (value === 'yesterday') return `${iso(midnight.getTime() - day)}~${iso(midnight.getTime())}`
  const ago = /^(\d{1,4}) ?(m|h|d)$/.exec(value)
  if (ago)
    return `${iso(now.getTime() - Number(ago[1]) * { m: 60_000, h: 3_600_000, d: day }[ago[2] as 'm' | 'h' | 'd'])}~`
  const [first = '', second] = typed.trim().split(/\s+to\s+|\s*~\s*/i)
  const from = inputForm.exec(first)
  if (!from) return boundsOf(typed.trim(), 0) === undefined ? undefined : typed.trim()
  const start = new Date(`${from[1]}T${(from[2] ?? '00:00').padStart(5, '0')}`).getTime()
  if (Number.isNaN(start)) return undefined
  if (second === undefined) return `${iso(start)}~${iso(start + (from[2] ? 3_600_000 : day))}`
  const to = inputForm.exec(/^\d{1,2}:\d{2}/.test(second) ? `${from[1]} ${second}` : second)
  const end = to ? new Date(`${to[1]}T${(to[2] ?? '23:59:59').padStart(5, '0')}`).getTime() : Number.NaN
  return Number.isNaN(end) ? undefined : `${iso(start)}~${iso(end)}`
}

/** @property shown the terms as they stand in the line, also where some of them say nothing. */
export type Parsed = {
  expression: Expression
  fault: QueryFault | undefined
  problems: readonly Problem[]
  shown: Expression
}

export function parsed(q: string | undefined): Parsed {
  try {
    const shown = parseQuery(q ?? '')
    const problems = problemsOf(shown)
    const [first] = problems
    if (first === undefined) return { expression: shown, fault: undefined, problems, shown }
    const at = Math.max(0, (q ?? '').indexOf(termText(first.term)))
    return { expression: [], fault: new QueryFault(first.message, at), problems, shown }
  } catch (error) {
    if (error instanceof QueryFault) return { expression: [], fault: error, problems: [], shown: [] }
    throw error
  }
}

const sortFields: Record<string, string> = {
  started_at: 'started_at',
  op_name: 'op_name',
  latency: 'summary.weave.latency_ms',
}

export type ListRequest = CallsRequest & { project_id: string; sort_by: { field: string; direction: 'asc' | 'desc' }[] }

export function listRequest(project: string, search: CallsSearch, expression: Expression, nowS: number): ListRequest {
  const request = requestOf(expression, project, boundsOf(search.range ?? '', nowS))
  // A call that is named is shown wherever it stands in its trace.
  const isNamed = ['call_ids', 'parent_ids', 'trace_ids'].some((name) => name in request.filter)
  if (search.view !== 'all' && !isNamed) request.filter.trace_roots_only = true
  const [field = 'started_at', direction = 'desc'] = (search.sort ?? 'started_at:desc').split(':')
  const order = direction === 'asc' ? 'asc' : 'desc'
  return { project_id: project, ...request, sort_by: [{ field: sortFields[field] ?? 'started_at', direction: order }] }
}

/** Whether rows of a list stand for whole traces. */
export const isOfTraces = (request: ListRequest | undefined): boolean => request?.filter.trace_roots_only === true

/** Fields of the table of filters are columns of calls, wherever they lie. */
const isOfPayload = (name: string): boolean => kindOfField(name) === undefined && isDocument(pathOf(name))

/** A text condition may go through every payload: counting stops early then. */
export const hasText = (expression: Expression): boolean =>
  expression.some((all) =>
    all.some((one) =>
      one.type === 'group'
        ? hasText(one.any)
        : one.type === 'word' || (one.type === 'cond' && one.operator === '~' && isOfPayload(one.field)),
    ),
  )
