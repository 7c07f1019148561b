// Applies rows that ended the process before although each of them survives alone: in ever smaller batches, over the
// starts that it takes, until what is sound is in and the process goes on.

import { splitBatch } from '../../core/concurrency/split-batch.ts'
import type { SegmentRow } from '../../events/segment-rows.ts'
import { digestOfRows } from './crashing-rows.ts'
import { cut } from './cuts.ts'
import type { ProbeResults } from './in-flight.ts'

/** A row that the process ended over this often, applied alone, is given up. */
const maxEndsOfRow = 3

/** `begun-2` = begun twice without an end in order; `done-1` = in the tables, but for one dead letter. */
const step = /^(begun|done)-(\d+)$/

/**
 * Returns a function that applies a group of rows and resolves to the number of dead letters.
 * @param deps.steps kept over a restart, by digest of the rows
 * @param deps.giveUp keeps a row as a dead letter
 */
export function createCrashGuard(deps: {
  steps: ProbeResults
  apply(rows: SegmentRow[]): Promise<number>
  giveUp(row: SegmentRow): Promise<void>
}): (rows: SegmentRow[]) => Promise<number> {
  const { steps, apply, giveUp } = deps

  const applyNoted = async (rows: SegmentRow[], digest: string, ends: number): Promise<number> => {
    steps.put(digest, `begun-${ends + 1}`)
    try {
      return await apply(rows)
    } catch (error) {
      // An outage, or a stop in order: not the end of the process.
      steps.put(digest, `begun-${ends}`)
      throw error
    }
  }

  return async (group) => {
    let deadLetters = 0
    await splitBatch(group, async (rows) => {
      const [first] = rows
      if (!first) return []
      const digest = digestOfRows(rows.map(({ text }) => text))
      const [, state, count] = step.exec(steps.get(digest) ?? '') ?? []
      const ends = Number(count ?? 0)
      if (state === 'done') {
        deadLetters += ends
        return []
      }
      if (rows.length > 1 && ends > 0) return cut(rows, 'process ended')
      const isHopeless = ends >= maxEndsOfRow
      const dead = isHopeless ? await giveUp(first).then(() => 1) : await applyNoted(rows, digest, ends)
      steps.put(digest, `done-${dead}`)
      deadLetters += dead
      return []
    })
    return deadLetters
  }
}
