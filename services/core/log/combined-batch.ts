// Combines batches of several partitions into one: each insert and merge has a fixed cost, however few the rows.
import type { Batch } from './log.ts'

export type CombinedBatch = Batch & {
  /** The batches that were combined, one per partition. */
  members: Batch[]
}

/** The batches as the log delivered them. */
export const batchMembers = <One extends Pick<Batch, 'partition' | 'lastOffset'>>(
  batch: One | CombinedBatch,
): (One | Batch)[] => ('members' in batch ? batch.members : [batch])

/**
 * One batch with the rows of all, under the position of the first. Dirty buckets carry the positions of all members: a
 * partition may be reassigned to another worker, and be covered there before the minutes of the other rows are dirty.
 */
export function combined(first: Batch, others: Batch[]): Batch | CombinedBatch {
  if (others.length === 0) return first
  const members = [first, ...others]
  const sum = (of: (member: Batch) => number): number => members.reduce((total, member) => total + of(member), 0)
  return {
    ...first,
    records: members.flatMap(({ records }) => records),
    rowCount: sum(({ rowCount }) => rowCount),
    patchCount: sum(({ patchCount }) => patchCount),
    source: { bytes: members.flatMap(({ source }) => ('bytes' in source ? source.bytes : [])) },
    oldestMs: Math.min(...members.map(({ oldestMs }) => oldestMs)),
    members,
  } satisfies CombinedBatch
}
