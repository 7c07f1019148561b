// The address of the calls page, and the request that follows from it.
import { isTime, type Problem, problemsOf } from './filter-checks.ts'
import { isOfTrace, kindOfField, pathOf, type RowsOf } from './filter-fields.ts'
import { type Bounds, type CallsRequest, isDocument, requestOf, type ZoneOf } from './query-request.ts'
import { type Expression, parseQuery, QueryFault, termText } from './query-text.ts'
import { instantOf, localMs, writtenMs } from './zone-clock.ts'

export type CallsSearch = {
  q?: string | undefined
  view?: 'all' | undefined
  range?: string | undefined
  sort?: string | undefined
  live?: '1' | undefined
  /** Columns beside the usual ones: `inputs,output` unless others are chosen. */
  cols?: string | undefined
  /** Columns that stay in view beside the name, and at the right edge. */
  left?: string | undefined
  right?: string | undefined
  /** The field by which the calls are counted, in a dialog over their list. */
  by?: string | undefined
  /** The comparison of the calls of the range with the others is open, in a dialog over the list. */
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

/** Pinned columns that there are. */
const pinnedOf = (names: unknown, columns: readonly string[]): string[] =>
  columns.filter((path) => path !== '-' && text(names)?.split(',').includes(path))

/** A valid id of a saved view. */
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
  if (sort && isSort(sort) && sort !== usualSort && sortOf(sort, parsedList(found).rows) === sort) found.sort = sort
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

/** `3d`, `3 days`, `last 3 days`, `last hour`. */
const agoForm = /^(?<last>last )?(?<count>\d{1,4})? ?(?<unit>m|min|minutes?|h|hours?|d|days?|w|weeks?)$/
const unitMs = { m: 60_000, h: 3_600_000, d: day, w: 7 * day }
type Ago = { last?: string; count?: string; unit: string }

/** Milliseconds of a day and its time, NaN where there is no such day. @param usual time of a day without one */
const momentOf = (found: RegExpExecArray | null, usual: string, zone: string): number =>
  found?.[1] && isTime(found[1])
    ? writtenMs(`${found[1]}T${(found[2] ?? usual).padStart(5, '0')}`, () => zone)
    : Number.NaN

/** The midnight before an instant, or so many days after that one. */
function midnightOf(ms: number, zone: string, days = 0): number {
  const local = localMs(ms, zone)
  return instantOf(Math.floor(local / day) * day + days * day, zone)
}

/** Ranges as readers type them: `2h`, `last 3 days`, `yesterday`, `2026-01-05`, `2026-01-05 12:00 to 13:00`. */
export function typedRange(typed: string, zone: string, nowMs: number = Date.now()): string | undefined {
  const value = typed.trim().toLowerCase()
  if (value === 'all' || Object.hasOwn(ranges, value)) return value
  const iso = (at: number) => new Date(at).toISOString()
  if (value === 'today') return `${iso(midnightOf(nowMs, zone))}~`
  if (value === 'yesterday') return `${iso(midnightOf(nowMs, zone, -1))}~${iso(midnightOf(nowMs, zone))}`
  const ago = agoForm.exec(value)
  if (ago) {
    const { last, count = last && '1', unit } = ago.groups as Ago
    if (count !== undefined) return `${iso(nowMs - Number(count) * unitMs[unit.charAt(0) as keyof typeof unitMs])}~`
  }
  const [first = '', second] = typed.trim().split(/\s+to\s+|\s*~\s*/i)
  const from = inputForm.exec(first)
  if (!from) return boundsOf(typed.trim(), 0) === undefined ? undefined : typed.trim()
  const start = momentOf(from, '00:00', zone)
  if (Number.isNaN(start)) return undefined
  if (second === undefined) return `${iso(start)}~${iso(from[2] ? start + 3_600_000 : midnightOf(start, zone, 1))}`
  const to = inputForm.exec(/^\d{1,2}:\d{2}/.test(second) ? `${from[1]} ${second}` : second)
  const end = momentOf(to, '23:59:59', zone)
  return Number.isNaN(end) ? undefined : `${iso(start)}~${iso(end)}`
}

/**
 * Rows of a list are whole traces where they are roots, unless the filter names calls, which are shown wherever
 * they stand in their trace.
 */
function rowsOf(view: CallsSearch['view'], expression: Expression): RowsOf {
  const { filter } = requestOf(expression, '', { zoneOf: () => 'UTC' })
  if (filter.trace_roots_only === true) return 'traces'
  const isNamed = ['call_ids', 'parent_ids', 'trace_ids'].some((name) => name in filter)
  return view === 'all' || isNamed ? 'calls' : 'traces'
}

/** @property shown the terms as they stand in the line, also where some of them say nothing. */
export type Parsed = {
  expression: Expression
  fault: QueryFault | undefined
  problems: readonly Problem[]
  shown: Expression
  rows: RowsOf
}

const chooseTraces = 'choose Traces'

/** The filter of calls, wherever they stand. */
export const parsed = (q: string | undefined): Parsed =>
  parsedAs(q, (shown) => rowsOf('all', shown), 'add is:root to count traces')

/** The filter of a list: in one of roots some terms mean whole traces. */
export const parsedList = ({ q, view }: Pick<CallsSearch, 'q' | 'view'>): Parsed =>
  parsedAs(
    q,
    (shown) => rowsOf(view, shown),
    view === 'all' ? chooseTraces : 'a filter by id, trace or parent is of calls',
  )

/** The filter of a chart that counts calls or whole traces. */
export const parsedOf = (q: string | undefined, rows: RowsOf): Parsed =>
  parsedAs(q, (shown) => (rows === 'traces' ? rows : rowsOf('all', shown)), chooseTraces)

function parsedAs(q: string | undefined, rowsIn: (shown: Expression) => RowsOf, advice: string): Parsed {
  try {
    const shown = parseQuery(q ?? '')
    const rows = rowsIn(shown)
    const problems = problemsOf(shown, rows, advice)
    const [first] = problems
    if (first === undefined) return { expression: shown, fault: undefined, problems, shown, rows }
    const at = Math.max(0, (q ?? '').indexOf(termText(first.term)))
    return { expression: [], fault: new QueryFault(first.message, at), problems, shown, rows }
  } catch (error) {
    if (error instanceof QueryFault) return { expression: [], fault: error, problems: [], shown: [], rows: rowsIn([]) }
    throw error
  }
}

/** Fields that lists are ordered by, by their names in the address. */
const sortFields = {
  started_at: 'started_at',
  op_name: 'op_name',
  latency: 'summary.weave.latency_ms',
} as const
/** Fields that only lists of traces are ordered by. */
const traceSorts = {
  model: 'trace.model',
  tokens: 'trace.total_tokens',
  cost: 'trace.cost',
  duration: 'trace.duration_ms',
  errors: 'trace.errors',
  spans: 'trace.spans',
} as const
const allSorts: Readonly<Record<string, string>> = { ...sortFields, ...traceSorts }

export const usualSort = 'started_at:desc'

function isSort(sort: string): boolean {
  const [field = '', direction, ...more] = sort.split(':')
  return Object.hasOwn(allSorts, field) && (direction === 'asc' || direction === 'desc') && more.length === 0
}
const isTraceSort = (sort: string): boolean => Object.hasOwn(traceSorts, sort.split(':')[0] ?? '')

/** The order of a list. One of whole traces is none where rows are calls. */
export const sortOf = (sort: string | undefined, rows: RowsOf): string =>
  sort === undefined || (rows === 'calls' && isTraceSort(sort)) ? usualSort : sort

export type ListRequest = CallsRequest & { project_id: string; sort_by: { field: string; direction: 'asc' | 'desc' }[] }

/** @param zoneOf the zone of times in the filter that name none */
export function listRequest(
  project: string,
  search: CallsSearch,
  expression: Expression,
  nowS: number,
  zoneOf: ZoneOf,
): ListRequest {
  const rows = rowsOf(search.view, expression)
  const request = requestOf(expression, project, { ...boundsOf(search.range ?? '', nowS), rows, zoneOf })
  if (rows === 'traces') request.filter.trace_roots_only = true
  const [field = '', direction] = sortOf(search.sort, rows).split(':')
  const order = direction === 'asc' ? 'asc' : 'desc'
  return { project_id: project, ...request, sort_by: [{ field: allSorts[field] ?? 'started_at', direction: order }] }
}

type WithoutOrder = Omit<ListRequest, 'sort_by'>

/** A list with one more condition. */
export const withCondition = <Request extends WithoutOrder>(
  request: Request,
  more: Record<string, unknown>,
): Request => ({
  ...request,
  query: { $expr: request.query ? { $and: [request.query.$expr, more] } : more },
})

/** The traces of a list in which anything failed. */
export const withErrors = <Request extends WithoutOrder>(request: Request): Request =>
  withCondition(request, { $gt: [{ $getField: 'trace.errors' }, { $literal: 0 }] })

/** Whether rows of a list stand for whole traces. */
export const isOfTraces = (request: WithoutOrder | undefined): boolean => request?.filter.trace_roots_only === true

/** Whether a filter says something of whole traces: what comes below their roots decides then which of them there are. */
export function saysOfTraces(expression: Expression, rows: RowsOf): boolean {
  return expression.some((all) =>
    all.some((one) =>
      one.type === 'group'
        ? saysOfTraces(one.any, rows)
        : (one.type === 'cond' || one.type === 'has') && isOfTrace(one.field, rows),
    ),
  )
}

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

const ofFailedRoot = /(^|[\s(])status[:=]error(?=$|[\s)])/g

/** The list of traces in which anything failed, for one of traces whose root failed. */
export function ofTracesWithErrors(search: CallsSearch): CallsSearch[] {
  const q = search.q?.replaceAll(ofFailedRoot, '$1errors>0')
  return q === undefined || q === search.q || search.view === 'all' ? [] : [{ ...search, q }]
}
