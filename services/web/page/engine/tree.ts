// A trace as typed arrays: the order of its tree, what is visible of it, own times and its critical path.
import type { Shapes } from '../routes.gen.ts'
import { kindOf, microsOf, opNameOf, type SpanKind, type Status, spanKinds } from './rows.ts'
import {
  type Ids,
  idAt,
  idsOf,
  markIds,
  markTexts,
  type Numbers,
  someNumbers,
  spanOfId,
  type Texts,
  textColumn,
  textOf,
  wholeNumbers,
} from './span-columns.ts'
import { lineOfThrown } from './thrown.ts'
import { type Counts, countedOf, totalsOf } from './tree-totals.ts'

type TreeAnswer = Shapes['traces.tree']['out']

export const statuses: readonly Status[] = ['success', 'error', 'running', 'descendant_error']

/** Spans as columns, in no order. Times are microseconds after `baseUs`. */
export type Spans = {
  count: number
  baseUs: number
  ids: Ids
  /** Places of parents; -1 for roots and for parents that are not here. */
  parent: Int32Array
  /** Spans whose parent is not here. */
  orphans: number
  /** There are more spans than these. */
  isCut: boolean
  names: Texts
  models: Texts
  errors: Texts
  start: Numbers
  /** -1 while it runs. */
  duration: Numbers
  kind: Uint8Array
  status: Uint8Array
  /** These are empty where no span reports any. */
  tokensIn: Float64Array
  tokensOut: Float64Array
  cost: Float64Array
  counted?: Counts['counted']
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
  /** Totals of each span with everything below it; NaN where none of it reports any. */
  total: { tokens: Float64Array; cost: Float64Array }
}

/** The answer of POST /trace/tree. */
export function spansOf(tree: TreeAnswer): Spans {
  return {
    counted: countedOf(tree),
    count: tree.id.length,
    ids: idsOf(tree.id),
    orphans: tree.orphans.length,
    isCut: tree.is_cut,
    baseUs: tree.started_at === null ? 0 : microsOf(tree.started_at),
    parent: Int32Array.from(tree.parent),
    names: textColumn(tree.names, tree.name),
    models: textColumn(tree.models, tree.model),
    errors: textColumn(tree.errors.map(lineOfThrown), tree.error),
    start: wholeNumbers(tree.start_us),
    duration: wholeNumbers(tree.duration_us),
    kind: Uint8Array.from(kindsOf(tree)),
    status: Uint8Array.from(tree.status),
    tokensIn: someNumbers(tree.tokens_in),
    tokensOut: someNumbers(tree.tokens_out),
    cost: someNumbers(tree.cost),
  }
}

/** Kinds by what the attributes say, the op and the model: spans that agree in these are looked at once. */
function kindsOf({ kinds, ops, models, kind, op, model }: TreeAnswer): number[] {
  const known = new Map<number, number>()
  return kind.map((word, span) => {
    const place = op[span] as number
    const key = ((word + 1) * (ops.length + 1) + place + 1) * 2 + (model[span] === -1 ? 0 : 1)
    let found = known.get(key)
    if (found === undefined) {
      const opName = opNameOf(ops[place] ?? '')
      found = spanKinds.indexOf(
        kindOf({ operation_name: kinds[word] ?? '' }, opName, models[model[span] as number] ?? null),
      )
      known.set(key, found)
    }
    return found
  })
}

/** Time of the last change: the latest start or end, microseconds after `baseUs`. */
export function lastChange({ start, duration }: Spans): number {
  let last = 0
  for (let span = 0; span < start.length; span++)
    last = Math.max(last, (start[span] as number) + Math.max(0, duration[span] as number))
  return last
}

export const kindOfSpan = (spans: Spans, span: number): SpanKind => spanKinds[spans.kind[span] ?? 7] ?? 'other'
export const statusOfSpan = (spans: Spans, span: number): Status => statuses[spans.status[span] ?? 0] ?? 'success'

/** Spans that failed below a span; none where it is not in the tree. */
export function errorsBelow(tree: Tree, id: string): number {
  const span = spanOfId(tree.spans.ids, id)
  if (span === -1) return 0
  const line = tree.lineOf[span] as number
  let errors = 0
  for (let one = line + 1; one < (tree.end[line] as number); one++)
    if (tree.spans.status[tree.order[one] as number] === 1) errors++
  return errors
}

/** Parents with cycles cut, and how many spans lie below none that is here. */
function parentPlaces(spans: Spans): { parent: Int32Array; orphans: number } {
  const { count } = spans
  const parent = spans.parent.slice()
  let { orphans } = spans
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
  sorted.sort((a, b) => (start[a] as number) - (start[b] as number) || (idAt(ids, a) < idAt(ids, b) ? -1 : 1))
  const firstChild = new Int32Array(count).fill(-1)
  const next = new Int32Array(count).fill(-1)
  let firstRoot = -1
  // The loop runs from the last to the first, so that each list begins with its earliest span.
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
    total: totalsOf(spans, order, parent),
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
  // Walks back from each root: the child that ended last, then the one that ended before that began.
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

/** Beside the tree: every span by itself in the order of their starts; those that hold messages alone. */
export type TraceMode = 'start' | 'messages'

export type View = {
  collapsed: Uint8Array
  query: string
  onlyCritical: boolean
  kind: SpanKind | ''
  /** None = any. */
  status?: Status | undefined
  model?: string | undefined
  minShare: number
  /** Ids of calls whose payloads hold the text. */
  inPayloads?: ReadonlySet<string> | undefined
  /** None = as a tree. */
  mode?: TraceMode | undefined
}

/** Test of whether a span matches; undefined when there is no search. */
export function matcherOf(tree: Tree, view: Omit<View, 'collapsed'>): ((span: number) => boolean) | undefined {
  const { onlyCritical, kind, status, model, minShare, inPayloads } = view
  const { spans, critical } = tree
  const needle = view.query.toLowerCase()
  if (needle === '' && !onlyCritical && kind === '' && status === undefined && model === undefined && minShare <= 0)
    return undefined
  const least = tree.endUs * minShare
  const wanted = kind === '' ? -1 : spanKinds.indexOf(kind)
  const ended = status === undefined ? -1 : statuses.indexOf(status)
  const isNamed = matchesOf(spans, needle)
  return (span) =>
    (!onlyCritical || critical[span] !== 0) &&
    (wanted === -1 || spans.kind[span] === wanted) &&
    (least <= 0 || (spans.duration[span] as number) >= least) &&
    (ended === -1 || spans.status[span] === ended) &&
    (model === undefined || textOf(spans.models, span) === model) &&
    (needle === '' || isNamed(span) || inPayloads?.has(idAt(spans.ids, span)) === true)
}

/** Lines that match, and those of their ancestors; undefined when nothing is asked for. */
function matchingLines({ spans, order, depth }: Tree, isMatch: (span: number) => boolean): Uint8Array {
  const shown = new Uint8Array(spans.count)
  const above = new Int32Array(65_536)
  for (let line = 0; line < spans.count; line++) {
    const level = depth[line] as number
    above[level] = line
    if (!isMatch(order[line] as number)) continue
    for (let up = level; up >= 0 && shown[above[up] as number] === 0; up--) shown[above[up] as number] = 1
  }
  return shown
}

const llm = spanKinds.indexOf('llm')

/** Whether an order has a span at all. */
export const isOfMode = ({ kind }: Spans, span: number, mode: TraceMode | undefined): boolean =>
  mode !== 'messages' || kind[span] === llm

/** Lines of single spans that match, in the order of their starts. */
function flatLines(tree: Tree, isMatch: ((span: number) => boolean) | undefined, mode: TraceMode): Int32Array {
  const { spans, order } = tree
  const lines: number[] = []
  for (let line = 0; line < spans.count; line++) {
    const span = order[line] as number
    if (isOfMode(spans, span, mode) && isMatch?.(span) !== false) lines.push(line)
  }
  const startOf = (line: number) => spans.start[order[line] as number] as number
  return Int32Array.from(lines.sort((a, b) => startOf(a) - startOf(b) || a - b))
}

/** Lines that are shown: what matches with its ancestors, without what is collapsed. */
export function visibleLines(tree: Tree, view: View): Int32Array {
  const { end, spans } = tree
  const { collapsed, mode } = view
  const isMatch = matcherOf(tree, view)
  if (mode !== undefined) return flatLines(tree, isMatch, mode)
  const shown = isMatch && matchingLines(tree, isMatch)
  const lines = new Int32Array(spans.count)
  let length = 0
  for (let line = 0; line < spans.count; line++) {
    if (shown === undefined || shown[line] === 1) {
      lines[length] = line
      length++
    } else if (collapsed[line] === 0) continue
    if (collapsed[line] === 1) line = (end[line] as number) - 1
  }
  return lines.subarray(0, length)
}

/** Result of the last search: tree, rows and keys share it. */
const found = new WeakMap<Spans, { needle: string; marks: Uint8Array }>()

function marksOf(spans: Spans, needle: string): Uint8Array {
  const known = found.get(spans)
  if (known?.needle === needle) return known.marks
  const marks = new Uint8Array(spans.count)
  markIds(spans.ids, needle, marks)
  for (const column of [spans.names, spans.models, spans.errors]) markTexts(column, needle, marks)
  found.set(spans, { needle, marks })
  return marks
}

/** Whether a text stands in the name, id, model or error of a span: distinct texts are looked at once. Needles are in lower case. */
export function matchesOf(spans: Spans, needle: string): (span: number) => boolean {
  if (needle === '') return () => false
  const marks = marksOf(spans, needle)
  return (span) => marks[span] === 1
}

/** The line of a call's span; the first one for a call that is not in the tree. */
export function lineOf(tree: Tree | undefined, call: string | undefined): number {
  if (!tree || call === undefined) return 0
  const span = spanOfId(tree.spans.ids, call)
  return span === -1 ? 0 : (tree.lineOf[span] as number)
}

/** The next place in some direction that is meant, round the end; undefined when there is none. @param at -1 = before all */
export function nextMeant(
  count: number,
  at: number,
  by: 1 | -1,
  isMeant: (place: number) => boolean,
): number | undefined {
  const from = at < 0 && by < 0 ? 0 : at
  for (let step = 1; step <= count; step++) {
    const place = (((from + by * step) % count) + count) % count
    if (isMeant(place)) return place
  }
  return undefined
}
