// When the calls begin that a derived table may not hold yet, as ranges that the primary key can use.

import type { Range } from '../scope.ts'
import type { DirtyMinute } from './counts.ts'

/** Conditions of one statement. */
const maxRanges = 200
const everySecond = 2n ** 60n - 1n

/** Spans of so many seconds that begin at these, in order, neighbours as one. */
function joined(starts: Iterable<number>, seconds: number): Range[] {
  const ranges: { fromUs: number; beforeUs: number }[] = []
  const us = seconds * 1_000_000
  for (const start of starts) {
    const [fromUs, last] = [start * 1_000_000, ranges.at(-1)]
    if (last?.beforeUs === fromUs) last.beforeUs += us
    else ranges.push({ fromUs, beforeUs: fromUs + us })
  }
  return ranges
}

function* secondsOf(dirty: readonly DirtyMinute[]): Generator<number> {
  for (const { minute, seconds } of dirty) {
    const bits = BigInt(seconds) || everySecond
    for (let second = 0; second < 60; second++) if ((bits >> BigInt(second)) & 1n) yield minute + second
  }
}

/**
 * Ranges of the seconds of dirty minutes in which something changed, in order; of the whole minutes where these are many or
 * their seconds make too many.
 * @returns null where the minutes do as well
 */
export function dirtyRanges(dirty: readonly DirtyMinute[]): Range[] | null {
  const inOrder = dirty.toSorted((a, b) => a.minute - b.minute)
  const whole = joined(
    inOrder.map(({ minute }) => minute),
    60,
  )
  if (whole.length > maxRanges) return null
  // Thousands of minutes are looked through by no second: a backfill would hold the event loop.
  if (inOrder.length > maxRanges) return whole
  const exact = joined(secondsOf(inOrder), 1)
  return exact.length > maxRanges ? whole : exact
}
