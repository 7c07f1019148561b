// Compares what the tables remember with the current log: the same one, a new one, another one, or a shorter one.
import type { Position, TopicIdentity } from '../../core/log/log.ts'
import { formatPositions } from '../../core/log/positions.ts'
import type { Applied, AppliedRow, MissingRange } from './table.ts'

/** The log and the tables do not belong together; the message is a line for the operator. */
export class LogMismatch extends Error {}

const choices =
  'use the log that belongs to them, or choose (docs/operate/lost-log-or-tables.md): callhouse serve --adopt-log (or worker) keeps what the tables hold, applies what this log holds and counts everything anew; callhouse replay --from 1 --adopt-log does it and ends; callhouse rebuild <table> --adopt-log makes a table anew after it'

export const otherLog = (topic: string, known: readonly string[], found: string): LogMismatch =>
  new LogMismatch(
    found === ''
      ? `the topic ${topic} is gone from the log (it was ${known.join(', ')}): ${choices}`
      : `the tables of ${topic} were filled from another log (${known.join(', ')}) than this one (${found}): ${choices}`,
  )

export type Comparison = {
  /** The reason why the two do not belong together; absent when they do. */
  mismatch?: LogMismatch
  /** Rows that the tables do not have yet. */
  fresh: AppliedRow[]
  /** Records that are lost. */
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

/** State of one partition in the tables and in the log. */
type Partition = {
  topic: string
  id: string
  partition: number
  /** Records that the log holds. */
  first: number
  end: number
  /** Position that the tables remember, absent when they remember none. */
  remembered: number | undefined
  generation: number
  /** Committed position, and what counters of tables that remember nothing cover. */
  committed: number
  covered: number
  /** Tables of an older version remember nothing: what was committed is in them, unless they are plainly lost. */
  isOlder: boolean
}

function* partitionsOf({ identities, committed, applied, tables }: ComparedState): Generator<Partition> {
  const isOlder = applied.size === 0 && !tables.areEmpty
  for (const { topic, id, kept } of identities) {
    const known = applied.get(topic)
    for (const { partition, first, end } of kept) {
      const group = committed.find((one) => one.topic === topic && one.partition === partition)
      const covered = isOlder && topic === 'calls' ? tables.covered.get(partition) : undefined
      yield {
        topic,
        id,
        partition,
        first,
        end,
        isOlder,
        committed: group?.offset ?? 0,
        covered: covered ?? 0,
        remembered: known?.positions.get(partition),
        generation: known?.generation ?? 1,
      }
    }
  }
}

/** Position that the tables hold of a partition. */
const heldOf = ({ isOlder, committed, remembered }: Partition): number => (isOlder ? committed : (remembered ?? 0))

function mismatchOf({ identities, applied }: ComparedState, partitions: readonly Partition[]): LogMismatch | undefined {
  for (const { topic, id } of identities) {
    const known = applied.get(topic)
    if (known !== undefined && (known.ids.length !== 1 || known.ids[0] !== id)) return otherLog(topic, known.ids, id)
    for (const one of partitions.filter((of) => of.topic === topic)) {
      const claimed = Math.max(heldOf(one), one.committed, one.covered)
      if (claimed > one.end) return shorter(topic, one.partition, claimed, one.end)
    }
  }
  return undefined
}

export function compare(state: ComparedState): Comparison {
  const partitions = [...partitionsOf(state)]
  const mismatch = mismatchOf(state, partitions)
  if (mismatch) return { mismatch, fresh: [], missing: [] }
  const fresh: AppliedRow[] = []
  const missing: Comparison['missing'] = []
  for (const one of partitions) {
    const { topic, id, partition, generation, first, remembered } = one
    const held = heldOf(one)
    const isMissing = held + 1 < first
    if (isMissing) missing.push({ topic, id, partition, first: held + 1, last: first - 1 })
    if (isMissing || remembered === undefined)
      fresh.push({ topic, id, partition, generation, offset: Math.max(held, first - 1) })
  }
  return { fresh, missing }
}
