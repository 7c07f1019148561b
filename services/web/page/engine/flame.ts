// A flame graph: boxes on levels, a call's below that of its caller; by time, or by the path of names with their times summed.
import type { namePaths } from './name-paths.ts'
import { textOf } from './span-columns.ts'
import type { Tree } from './tree.ts'

/** Boxes in the order of a tree: the boxes below a box follow it. */
export type Flame = {
  count: number
  from: Float64Array
  to: Float64Array
  level: Int32Array
  /** The span that a box shows. */
  span: Int32Array
  /** The box that a span is part of; -1 where there is none. */
  boxOf: Int32Array
  levels: number
  /** End of the graph; it begins at 0. */
  end: number
  nameOf(box: number): string
}

const emptyFlame = (count: number) => ({
  count,
  from: new Float64Array(count),
  to: new Float64Array(count),
  level: new Int32Array(count),
  span: new Int32Array(count),
})

/** @param nowUs where spans end that run */
export function flameOfTree(tree: Tree, nowUs: number): Flame {
  const { spans, order, depth, endUs } = tree
  const made = emptyFlame(order.length)
  let levels = 1
  for (let box = 0; box < order.length; box++) {
    const span = order[box] as number
    const start = spans.start[span] as number
    const length = spans.duration[span] as number
    made.span[box] = span
    made.level[box] = depth[box] as number
    made.from[box] = start
    made.to[box] = length < 0 ? Math.max(start, nowUs) : start + length
    levels = Math.max(levels, (depth[box] as number) + 1)
  }
  const nameOf = (box: number) => textOf(spans.names, made.span[box] as number)
  return { ...made, boxOf: tree.lineOf, levels, end: Math.max(1, endUs), nameOf }
}

/** Paths side by side in their order. Boxes that together took longer than their caller are narrower. */
export function flameOfPaths({ paths, pathOf }: Pick<ReturnType<typeof namePaths>, 'paths' | 'pathOf'>): Flame {
  const made = emptyFlame(paths.length)
  let levels = 1
  /** The boxes above: where the next one below begins, and the width of a microsecond. */
  const next: number[] = [0]
  const scale: number[] = [1]
  const below = new Float64Array(paths.length)
  const above: number[] = []
  for (const [box, { depth, totalUs }] of paths.entries()) {
    above.length = depth
    const caller = above[depth - 1]
    if (caller !== undefined) below[caller] = (below[caller] as number) + totalUs
    above[depth] = box
  }
  for (const [box, { depth, totalUs, span }] of paths.entries()) {
    const from = next[depth] ?? 0
    const size = totalUs * (scale[depth] ?? 1)
    made.level[box] = depth
    made.span[box] = span
    made.from[box] = from
    made.to[box] = from + size
    next[depth] = from + size
    next[depth + 1] = from
    const inner = below[box] as number
    scale[depth + 1] = inner > totalUs ? size / inner : (scale[depth] ?? 1)
    levels = Math.max(levels, depth + 1)
  }
  const end = Math.max(1, next[0] ?? 0)
  return { ...made, boxOf: pathOf, levels, end, nameOf: (box) => paths[box]?.name ?? '' }
}

/** The first line of the tree with a matching span for each box; -1 where there is none. */
export function linesMeant({ count, boxOf }: Flame, { order }: Tree, isMeant: (span: number) => boolean): Int32Array {
  const lines = new Int32Array(count).fill(-1)
  for (let line = order.length - 1; line >= 0; line--) {
    const span = order[line] as number
    const box = boxOf[span] as number
    if (box >= 0 && isMeant(span)) lines[box] = line
  }
  return lines
}

/** The box on a level at a place; of those that lie over each other the last one, which is drawn on top. */
export function boxAt({ count, from, to, level }: Flame, at: number, onLevel: number, slack = 0): number {
  for (let box = count - 1; box >= 0; box--)
    if (level[box] === onLevel && at >= (from[box] as number) - slack && at <= (to[box] as number) + slack) return box
  return -1
}

const keys = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home'] as const
export type FlameKey = (typeof keys)[number]
export const isFlameKey = (key: string): key is FlameKey => (keys as readonly string[]).includes(key)

/** The box that a key leads to: the caller, the first box below, the box before or after on the same level. */
export function stepOf({ count, level }: Flame, box: number, key: FlameKey): number {
  if (key === 'Home' || box < 0) return count > 0 ? 0 : -1
  const own = level[box] as number
  if (key === 'ArrowDown') return (level[box + 1] ?? -1) === own + 1 ? box + 1 : box
  const step = key === 'ArrowRight' ? 1 : -1
  const wanted = key === 'ArrowUp' ? own - 1 : own
  for (let other = box + step; other >= 0 && other < count; other += step) if (level[other] === wanted) return other
  return box
}

type Part = { from: number; to: number }

/** The part of the time that shows a box as well, as long as before; undefined where the box is in view. */
export function partWith({ from, to, end }: Flame, box: number, shown: Part): Part | undefined {
  const [start, stop] = [from[box] as number, to[box] as number]
  if (start < shown.to && stop > shown.from) return undefined
  const length = shown.to - shown.from
  const middle = Math.min((start + stop) / 2, start + length / 2)
  const begin = Math.max(0, Math.min(end - length, middle - length / 2))
  return { from: begin, to: begin + length }
}
