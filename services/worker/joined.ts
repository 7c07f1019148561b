// Batches of several partitions applied as one: each insert and fold has a price of its own, however few the rows.
import type { Batch } from '../core/log/log.ts'

export type JoinedBatch = Batch & {
  /** The batches that it is made of, one per partition. */
  parts: Batch[]
}

/** The batches that were delivered. */
export const partsOf = <One extends Pick<Batch, 'partition' | 'lastOffset'>>(
  batch: One | JoinedBatch,
): (One | Batch)[] => ('parts' in batch ? batch.parts : [batch])

/**
 * The rows of all of them, under the position of the first. Marks carry the positions of all: a partition may go to
 * another worker meanwhile, and be covered there before the rows of the others are marked.
 */
export function joined(first: Batch, others: Batch[]): Batch | JoinedBatch {
  if (others.length === 0) return first
  const parts = [first, ...others]
  const sum = (of: (part: Batch) => number): number => parts.reduce((total, part) => total + of(part), 0)
  return {
    ...first,
    records: parts.flatMap(({ records }) => records),
    rowCount: sum(({ rowCount }) => rowCount),
    patchCount: sum(({ patchCount }) => patchCount),
    source: { bytes: parts.flatMap(({ source }) => ('bytes' in source ? source.bytes : [])) },
    oldestMs: Math.min(...parts.map(({ oldestMs }) => oldestMs)),
    parts,
  } satisfies JoinedBatch
}
