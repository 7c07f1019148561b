// Compares what the tables remember with the log that is there: the same one, a new one, another one, or a shorter one.
import type { Position, TopicIdentity } from '../../core/log/log.ts'
import { formatPositions } from '../../core/log/positions.ts'
import type { Applied, AppliedRow, MissingRange } from './table.ts'

/** The log and the tables do not belong together; the message is a line for the operator. */
export class LogMismatch extends Error {}

const choices =
  'use the log that belongs to them, or choose (docs/operate.md): callhouse serve --adopt-log (or worker) keeps what the tables hold, applies what this log holds and counts everything anew; callhouse replay --from 1 --adopt-log does it and ends; callhouse rebuild <table> --adopt-log makes a table anew after it'

export const otherLog = (topic: string, known: readonly string[], found: string): LogMismatch =>
  new LogMismatch(
    found === ''
      ? `the topic ${topic} is gone from the log (it was ${known.join(', ')}): ${choices}`
      : `the tables of ${topic} were filled from another log (${known.join(', ')}) than this one (${found}): ${choices}`,
  )

export type Comparison = {
  /** Why the two do not belong together; absent when they do. */
  mismatch?: LogMismatch
  /** What the tables do not remember yet. */
  fresh: AppliedRow[]
  /** What is lost: the time is that of the oldest record that is kept. */
  missing: Omit<MissingRange, 'beforeMs'>[]
}

export type ComparedState = {
  identities: readonly TopicIdentity[]
  /** Read before the identities, as were the tables: positions of other processes go on meanwhile. */
  committed: readonly Position[]
  applied: Applied
  /** For tables that remember no log. */
  tables: {
    /** Nothing was ever stored. */
    areEmpty: boolean
    /** Greatest position of the calls that counters cover, per partition. */
    covered: ReadonlyMap<number, number>
  }
}

const nameOf = (topic: string, partition: number): string =>
  formatPositions([{ topic, partition, offset: 0 }]).replace(/=.*/, '')

const shorter = (topic: string, partition: number, position: number, end: number): LogMismatch =>
  new LogMismatch(
    `the log of ${nameOf(topic, partition)} ends at ${end}, and the tables hold what it held up to ${position}: ${choices}`,
  )

export function compare({ identities, committed, applied, tables }: ComparedState): Comparison {
  const fresh: AppliedRow[] = []
  const missing: Comparison['missing'] = []
  let mismatch: LogMismatch | undefined
  const isOlder = applied.size === 0 && !tables.areEmpty
  const refuse = (error: LogMismatch): void => {
    mismatch ??= error
  }
  for (const { topic, id, kept } of identities) {
    const known = applied.get(topic)
    if (known !== undefined && (known.ids.length !== 1 || known.ids[0] !== id)) refuse(otherLog(topic, known.ids, id))
    for (const { partition, first, end } of kept) {
      const group = committed.find((one) => one.topic === topic && one.partition === partition)?.offset ?? 0
      // Tables of an older version remember nothing: what was committed is in them, unless they are plainly lost.
      const held = isOlder ? group : (known?.positions.get(partition) ?? 0)
      const covered = isOlder && topic === 'calls' ? (tables.covered.get(partition) ?? 0) : 0
      const claimed = Math.max(held, group, covered)
      if (claimed > end) refuse(shorter(topic, partition, claimed, end))
      if (held + 1 < first) missing.push({ topic, id, partition, first: held + 1, last: first - 1 })
      if (held + 1 < first || !known?.positions.has(partition))
        fresh.push({ topic, id, partition, generation: known?.generation ?? 1, offset: Math.max(held, first - 1) })
    }
  }
  return mismatch ? { mismatch, fresh: [], missing: [] } : { fresh, missing }
}
