// Spans of a trace put together by the path of their names: how often, how long, and how much of it was their own.
import { textOf } from './span-columns.ts'
import type { Tree } from './tree.ts'

export type NamePath = {
  name: string
  depth: number
  calls: number
  errors: number
  totalUs: number
  ownUs: number
  /** The longest one. */
  span: number
}

/** More paths than a reader goes through; the rest is left out. */
const maxPaths = 20_000

type Node = NamePath & { below: Map<string, Node> }

/** `pathOf` is the place of each span's path; -1 where it was left out. */
type NamePaths = { paths: NamePath[]; pathOf: Int32Array; isCut: boolean }

/** Paths in the order of a tree, of siblings the one that took most first. */
export function namePaths(tree: Tree): NamePaths {
  const { spans, order, depth, own } = tree
  const roots = new Map<string, Node>()
  const above: Node[] = []
  const nodeOf: Node[] = []
  let made = 0
  let isCut = false
  for (let line = 0; line < spans.count; line++) {
    const span = order[line] as number
    const level = depth[line] as number
    const name = textOf(spans.names, span)
    above.length = Math.min(above.length, level)
    const siblings = level === 0 ? roots : above[level - 1]?.below
    // Below what was left out.
    if (siblings === undefined) continue
    let node = siblings.get(name)
    if (node === undefined) {
      if (made === maxPaths) {
        isCut = true
        continue
      }
      made++
      node = { name, depth: level, calls: 0, errors: 0, totalUs: 0, ownUs: 0, span, below: new Map() }
      siblings.set(name, node)
    }
    const took = Math.max(0, spans.duration[span] as number)
    if (took > (spans.duration[node.span] as number)) node.span = span
    nodeOf[span] = node
    node.calls++
    node.totalUs += took
    node.ownUs += own[span] as number
    if (spans.status[span] === 1) node.errors++
    above[level] = node
  }
  const paths: NamePath[] = []
  const places = new Map<Node | undefined, number>()
  const todo = [...roots.values()].sort((a, b) => a.totalUs - b.totalUs)
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    const { below, ...path } = node
    places.set(node, paths.length)
    paths.push(path)
    todo.push(...[...below.values()].sort((a, b) => a.totalUs - b.totalUs))
  }
  const pathOf = Int32Array.from({ length: spans.count }, (_, span) => places.get(nodeOf[span]) ?? -1)
  return { paths, pathOf, isCut }
}
