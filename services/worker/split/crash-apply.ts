// Applies rows that ended the process before although each of them survives alone: in ever smaller groups, over the
// starts that it takes, until what is sound is in and the process goes on.
import { digestOf } from './crash-bisect.ts'
import type { Findings } from './in-flight.ts'
import type { SegmentRow } from './segment-rows.ts'

/** Groups into which one that ended the process is split: few starts, and not many statements. */
const pieces = 8
/** A row that the process ended over so often, applied by itself, is given up. */
const endsOfRow = 3

/** `begun-2` = begun twice, and neither ended in order; `done-1` = in the tables, but for one dead letter. */
const step = /^(begun|done)-(\d+)$/

/**
 * Returns a function that applies a group of rows and tells how many became dead letters.
 * @param deps.steps kept over a restart, by digest of the rows
 * @param deps.giveUp keeps a row as a dead letter
 */
export function createCrashGuard(deps: {
  steps: Findings
  apply(rows: SegmentRow[]): Promise<number>
  giveUp(row: SegmentRow): Promise<void>
}): (rows: SegmentRow[]) => Promise<number> {
  const { steps, apply, giveUp } = deps

  const inPieces = async (rows: SegmentRow[]): Promise<number> => {
    const size = Math.ceil(rows.length / pieces)
    let dead = 0
    for (let i = 0; i < rows.length; i += size) dead += await guarded(rows.slice(i, i + size))
    return dead
  }

  const atOnce = async (rows: SegmentRow[], digest: string, ends: number): Promise<number> => {
    steps.put(digest, `begun-${ends + 1}`)
    try {
      return await apply(rows)
    } catch (error) {
      // An outage, or a stop in order: not the end of the process.
      steps.put(digest, `begun-${ends}`)
      throw error
    }
  }

  async function guarded(rows: SegmentRow[]): Promise<number> {
    const [only] = rows
    if (!only) return 0
    const digest = digestOf(rows.map(({ text }) => text))
    const [, state, count] = step.exec(steps.get(digest) ?? '') ?? []
    if (state === 'done') return Number(count)
    const ends = Number(count ?? 0)
    let dead: number
    if (rows.length > 1) dead = ends > 0 ? await inPieces(rows) : await atOnce(rows, digest, ends)
    else if (ends < endsOfRow) dead = await atOnce(rows, digest, ends)
    else {
      await giveUp(only)
      dead = 1
    }
    steps.put(digest, `done-${dead}`)
    return dead
  }
  return guarded
}
