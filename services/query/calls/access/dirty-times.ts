// When the calls begin that a derived table may not hold yet, as ranges that the primary key can use.

import type { Range } from '../scope.ts'
import type { DirtyMinute } from './counts.ts'

const [secondUs, minuteSeconds] = [1_000_000, 60]
/** Conditions of one statement. */
const maxRanges = 200
const everySecond = 2n ** 60n - 1n

/** Seconds as ranges, neighbours as one. */
function joined(seconds: Iterable<number>): Range[] {
  const ranges: { fromUs: number; beforeUs: number }[] = []
  for (const second of seconds) {
    const [fromUs, last] = [second * secondUs, ranges.at(-1)]
    if (last?.beforeUs === fromUs) last.beforeUs += secondUs
    else ranges.push({ fromUs, beforeUs: fromUs + secondUs })
  }
  return ranges
}

function* secondsOf(dirty: readonly DirtyMinute[]): Generator<number> {
  for (const { minute, seconds } of dirty) {
    const bits = BigInt(seconds) || everySecond
    for (let second = 0; second < minuteSeconds; second++) if ((bits >> BigInt(second)) & 1n) yield minute + second
  }
}

/**
 * Ranges of the seconds of dirty minutes in which something changed, in order; of the whole minutes where the seconds make
 * too many.
 * @returns null where the minutes do as well
 */
export function dirtyRanges(dirty: readonly DirtyMinute[]): Range[] | null {
  const inOrder = dirty.toSorted((a, b) => a.minute - b.minute)
  const whole = joined(secondsOf(inOrder.map(({ minute }) => ({ minute, seconds: '0' }))))
  if (whole.length > maxRanges) return null
  const exact = joined(secondsOf(inOrder))
  return exact.length > maxRanges ? whole : exact
}
