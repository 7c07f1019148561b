// Two traces beside each other: spans matched by name and order, level by level, with what differs in time and tokens.
import { diffArrays } from 'diff'
import type { Status } from './rows.ts'
import { idAt, textOf } from './span-columns.ts'
import { statusOfSpan, type Tree } from './tree.ts'

export type SpanSide = {
  id: string
  /** Null while it runs. */
  ms: number | null
  /** Tokens with all below it; null where nothing of it reports any. */
  tokens: number | null
  status: Status
}

/** A span of both, or of one of them alone. */
export type SpanPair = { name: string; depth: number; a: SpanSide | undefined; b: SpanSide | undefined }

export type TraceDifferences = {
  pairs: SpanPair[]
  /** There are more spans, or their order is too different to be matched in time. */
  isCut: boolean
}

type Bounds = { most?: number; limitMs?: number }

const maxEdits = 2_000

function sideOfLine({ spans, order, total }: Tree, line: number): SpanSide {
  const span = order[line] as number
  const us = spans.duration[span] as number
  const tokens = total.tokens[span] as number
  return {
    id: idAt(spans.ids, span),
    ms: us < 0 ? null : us / 1_000,
    tokens: Number.isNaN(tokens) ? null : tokens,
    status: statusOfSpan(spans, span),
  }
}

const nameOfLine = ({ spans, order }: Tree, line: number): string => textOf(spans.names, order[line] as number)

/** Lines of the spans right below one. */
function childrenOf({ end }: Tree, line: number): number[] {
  const found: number[] = []
  for (let at = line + 1; at < (end[line] as number); at = end[at] as number) found.push(at)
  return found
}

/** @param a line of a span of each tree, from which on both are compared */
export function matchedSpans(
  [treeA, lineA]: readonly [Tree, number],
  [treeB, lineB]: readonly [Tree, number],
  { most = 2_000, limitMs = 2_000 }: Bounds = {},
): TraceDifferences {
  const pairs: SpanPair[] = []
  const untilMs = performance.now() + limitMs
  /** Pairs that are still to be shown, the next one last: traces may be deeper than the stack. */
  const left: { depth: number; a?: number | undefined; b?: number | undefined }[] = [{ depth: 0, a: lineA, b: lineB }]
  let isCut = false
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (pairs.length === most || performance.now() > untilMs) return { pairs, isCut: true }
    const { depth, a, b } = next
    const name = a !== undefined ? nameOfLine(treeA, a) : nameOfLine(treeB, b as number)
    pairs.push({
      name,
      depth,
      a: a === undefined ? undefined : sideOfLine(treeA, a),
      b: b === undefined ? undefined : sideOfLine(treeB, b),
    })
    const inA = a === undefined ? [] : childrenOf(treeA, a)
    const inB = b === undefined ? [] : childrenOf(treeB, b)
    const matched = matchedChildren(inA, inB)
    for (const one of matched.toReversed()) left.push({ depth: depth + 1, ...one })
  }
  return { pairs, isCut }

  /** Children of one name in the same order are the same span; the others stand where they are. */
  function matchedChildren(inA: number[], inB: number[]): { a?: number; b?: number }[] {
    const names = [inA.map((line) => nameOfLine(treeA, line)), inB.map((line) => nameOfLine(treeB, line))] as const
    const timeout = Math.max(0, untilMs - performance.now())
    const runs = diffArrays(...names, { maxEditLength: maxEdits, timeout })
    if (runs === undefined) {
      isCut = true
      return [...inA.map((a) => ({ a })), ...inB.map((b) => ({ b }))]
    }
    const found: { a?: number; b?: number }[] = []
    let [atA, atB] = [0, 0]
    for (const { count = 0, removed, added } of runs)
      for (let n = 0; n < count; n++) {
        const one: { a?: number; b?: number } = {}
        if (!added) one.a = inA[atA++] as number
        if (!removed) one.b = inB[atB++] as number
        found.push(one)
      }
    return found
  }
}

/** Difference of the durations of a span, in milliseconds; one that is there once differs by all of its time. */
export const changeOfPair = ({ a, b }: SpanPair): number => (b?.ms ?? 0) - (a?.ms ?? 0)
