// A trace as typed arrays: the order of its tree, what is visible of it, own times and its critical path.
import type { Row, SpanKind, Status } from './rows.ts'
import { spanKinds } from './rows.ts'

const statuses: readonly Status[] = ['success', 'error', 'running', 'descendant_error']

/** Spans as columns, in no order. Times are microseconds after `baseUs`. */
export type Spans = {
  count: number
  baseUs: number
  ids: string[]
  parents: (string | null)[]
  names: string[]
  models: (string | null)[]
  exceptions: (string | null)[]
  start: Float64Array
  /** -1 while it runs. */
  duration: Float64Array
  kind: Uint8Array
  status: Uint8Array
  tokensIn: Float64Array
  tokensOut: Float64Array
  cost: Float64Array
}

/** The same in the order of the tree: `order[i]` is the span of line i, `end[i]` the line behind its last descendant. */
export type Tree = {
  spans: Spans
  order: Int32Array
  depth: Uint16Array
  end: Int32Array
  /** Line of each span. */
  lineOf: Int32Array
  /** Spans whose parent is not here, below no other; cycles are cut there as well. */
  orphans: number
  endUs: number
  critical: Uint8Array
  /** Microseconds of a span outside of its children. */
  own: Float64Array
}

export function spansOf(rows: readonly Row[]): Spans {
  const { length } = rows
  const baseUs = rows.reduce((least, row) => Math.min(least, row.startedUs), Number.POSITIVE_INFINITY)
  const numbers = (of: (row: Row) => number) => Float64Array.from(rows, of)
  return {
    count: length,
    baseUs: length === 0 ? 0 : baseUs,
    ids: rows.map(({ id }) => id),
    parents: rows.map(({ parentId }) => parentId),
    names: rows.map(({ name }) => name),
    models: rows.map(({ model }) => model),
    exceptions: rows.map(({ exception }) => exception),
    start: numbers((row) => row.startedUs - baseUs),
    duration: numbers((row) => (row.endedUs === null ? -1 : Math.max(0, row.endedUs - row.startedUs))),
    kind: Uint8Array.from(rows, (row) => spanKinds.indexOf(row.kind)),
    status: Uint8Array.from(rows, (row) => statuses.indexOf(row.status)),
    tokensIn: numbers((row) => row.tokensIn ?? Number.NaN),
    tokensOut: numbers((row) => row.tokensOut ?? Number.NaN),
    cost: numbers((row) => row.cost ?? Number.NaN),
  }
}

export const kindOfSpan = (spans: Spans, span: number): SpanKind => spanKinds[spans.kind[span] ?? 7] ?? 'other'
export const statusOfSpan = (spans: Spans, span: number): Status => statuses[spans.status[span] ?? 0] ?? 'success'

/** Parents by place; -1 for roots, for parents that are not here, and where a cycle is cut. */
function parentPlaces({ count, ids, parents }: Spans): { parent: Int32Array; orphans: number } {
  const places = new Map<string, number>()
  for (let span = 0; span < count; span++) places.set(ids[span] as string, span)
  const parent = new Int32Array(count).fill(-1)
  let orphans = 0
  for (let span = 0; span < count; span++) {
    const id = parents[span]
    if (id === null || id === undefined) continue
    const place = places.get(id)
    if (place === undefined || place === span) orphans++
    else parent[span] = place
  }
  // 0 unseen, 1 on the way, 2 leads to a root.
  const seen = new Uint8Array(count)
  for (let span = 0; span < count; span++) {
    const way: number[] = []
    let at = span
    while (at !== -1 && seen[at] === 0) {
      seen[at] = 1
      way.push(at)
      at = parent[at] as number
    }
    if (at !== -1 && seen[at] === 1) {
      parent[way.at(-1) as number] = -1
      orphans++
    }
    for (const one of way) seen[one] = 2
  }
  return { parent, orphans }
}

const endOf = ({ start, duration }: Spans, span: number, nowUs: number): number => {
  const length = duration[span] as number
  return (start[span] as number) + (length < 0 ? Math.max(0, nowUs - (start[span] as number)) : length)
}

/** @param nowUs where running spans end, microseconds after the base */
export function treeOf(spans: Spans, nowUs = 0): Tree {
  const { count, start, ids } = spans
  const { parent, orphans } = parentPlaces(spans)
  const sorted = Int32Array.from({ length: count }, (_, span) => span)
  sorted.sort(
    (a, b) => (start[a] as number) - (start[b] as number) || ((ids[a] as string) < (ids[b] as string) ? -1 : 1),
  )
  const firstChild = new Int32Array(count).fill(-1)
  const next = new Int32Array(count).fill(-1)
  let firstRoot = -1
  // From the last to the first, so that each list begins with its earliest span.
  for (let at = count - 1; at >= 0; at--) {
    const span = sorted[at] as number
    const above = parent[span] as number
    if (above === -1) {
      next[span] = firstRoot
      firstRoot = span
    } else {
      next[span] = firstChild[above] as number
      firstChild[above] = span
    }
  }
  const order = new Int32Array(count)
  const depth = new Uint16Array(count)
  const end = new Int32Array(count)
  const lineOf = new Int32Array(count)
  let line = 0
  let span = firstRoot
  let level = 0
  const open: number[] = []
  while (span !== -1) {
    order[line] = span
    lineOf[span] = line
    depth[line] = Math.min(level, 65_535)
    line++
    if (firstChild[span] !== -1) {
      open.push(span)
      span = firstChild[span] as number
      level++
      continue
    }
    end[line - 1] = line
    while (span !== -1 && next[span] === -1 && open.length > 0) {
      span = open.pop() as number
      end[lineOf[span] as number] = line
      level--
    }
    span = span === -1 ? -1 : (next[span] as number)
  }
  let endUs = 0
  for (let one = 0; one < count; one++) endUs = Math.max(endUs, endOf(spans, one, nowUs))
  const tree = {
    spans,
    order,
    depth,
    end,
    lineOf,
    orphans,
    endUs,
    critical: new Uint8Array(count),
    own: new Float64Array(count),
  }
  measure(tree, firstChild, next, nowUs)
  return tree
}

/** Own time = duration minus the union of the children; the critical path as CRISP and Jaeger walk it. */
function measure(tree: Tree, firstChild: Int32Array, next: Int32Array, nowUs: number): void {
  const { spans, own, critical, order, depth } = tree
  for (let span = 0; span < spans.count; span++) {
    const from = spans.start[span] as number
    const to = endOf(spans, span, nowUs)
    let covered = 0
    let reached = from
    for (let child = firstChild[span] as number; child !== -1; child = next[child] as number) {
      const begin = Math.max(reached, spans.start[child] as number)
      const end = Math.min(to, endOf(spans, child, nowUs))
      if (end > begin) {
        covered += end - begin
        reached = end
      }
    }
    own[span] = to - from - covered
  }
  // From each root back: the child that ended last, then what ended before that one began.
  const todo: [span: number, until: number][] = []
  for (const [line, span] of order.entries()) if (depth[line] === 0) todo.push([span, endOf(spans, span, nowUs)])
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    const [span, until] = item
    critical[span] = 1
    const children: number[] = []
    for (let child = firstChild[span] as number; child !== -1; child = next[child] as number) children.push(child)
    children.sort((a, b) => endOf(spans, b, nowUs) - endOf(spans, a, nowUs))
    let limit = until
    for (const child of children) {
      const end = Math.min(endOf(spans, child, nowUs), until)
      if (end > limit) continue
      todo.push([child, end])
      limit = spans.start[child] as number
    }
  }
}

export type View = {
  collapsed: Uint8Array
  query: string
  onlyCritical: boolean
  kind: SpanKind | ''
  minShare: number
}

/** Lines that are shown: what matches with its ancestors, without what is collapsed. */
export function visibleLines(tree: Tree, { collapsed, query, onlyCritical, kind, minShare }: View): Int32Array {
  const { spans, order, depth, end, critical } = tree
  const { count } = spans
  const needle = query.toLowerCase()
  const isFiltered = needle !== '' || onlyCritical || kind !== '' || minShare > 0
  const shown = new Uint8Array(count)
  if (isFiltered) {
    const above = new Int32Array(65_536)
    const least = tree.endUs * minShare
    const wanted = kind === '' ? -1 : spanKinds.indexOf(kind)
    for (let line = 0; line < count; line++) {
      const span = order[line] as number
      const level = depth[line] as number
      above[level] = line
      if (onlyCritical && critical[span] === 0) continue
      if (wanted !== -1 && spans.kind[span] !== wanted) continue
      if (least > 0 && (spans.duration[span] as number) < least) continue
      if (needle !== '' && !matches(spans, span, needle)) continue
      for (let up = level; up >= 0 && shown[above[up] as number] === 0; up--) shown[above[up] as number] = 1
    }
  }
  const lines = new Int32Array(count)
  let length = 0
  for (let line = 0; line < count; line++) {
    if (!isFiltered || shown[line] === 1) {
      lines[length] = line
      length++
    } else if (collapsed[line] === 0) continue
    if (collapsed[line] === 1) line = (end[line] as number) - 1
  }
  return lines.subarray(0, length)
}

export const matches = ({ ids, names, models, exceptions }: Spans, span: number, needle: string): boolean =>
  (names[span] as string).toLowerCase().includes(needle) ||
  (ids[span] as string).includes(needle) ||
  (models[span] ?? '').toLowerCase().includes(needle) ||
  (exceptions[span] ?? '').toLowerCase().includes(needle)
