// Spans of a trace that there are to see, and those of them that match, as numbers.
import { isOfMode, matcherOf, type Tree, type View } from './tree.ts'

/** Number of spans that an order has, and of those of them that match; undefined when there is no search. */
export function spanCounts(tree: Tree, view: Omit<View, 'collapsed'>): { all: number; matching: number | undefined } {
  const isMatch = matcherOf(tree, view)
  let [all, matching] = [0, 0]
  for (let span = 0; span < tree.spans.count; span++) {
    if (!isOfMode(tree.spans, span, view.mode)) continue
    all++
    if (isMatch?.(span)) matching++
  }
  return { all, matching: isMatch && matching }
}
