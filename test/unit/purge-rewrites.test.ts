// When the files of a month are written anew without the rows that were removed from it.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRewritten, type RemovedRows } from '../../services/removal/rewrites.ts'
import { runs } from '../fixtures/runs.ts'

const dayUs = 86_400_000_000
const roundDays = 35
const nowMs = Date.parse('2026-03-01T04:00:00Z')
const cutoffUs = nowMs * 1000 - 30 * dayUs

const some = (changes: Partial<RemovedRows> = {}): RemovedRows => ({
  rows: 100,
  removed: 60,
  oldestUs: cutoffUs - 10 * dayUs,
  newestUs: cutoffUs - 1,
  cutoffUs,
  ...changes,
})
/** Whether it is so on each day of a round, while the rows stay as long behind the cutoff. */
const onEachDay = (rows: readonly RemovedRows[], name = 'calls 202601'): boolean[] =>
  Array.from({ length: roundDays }, (_, day) => isRewritten(name, rows, roundDays, nowMs + day * 86_400_000))

describe('the files of a month are rewritten', () => {
  it('never while none of its rows was removed', () => {
    expect(onEachDay([some({ removed: 0 })])).not.toContain(true)
  })
  it('at once where all rows were removed: nothing is written', () => {
    expect(onEachDay([some({ removed: 100 }), some({ removed: 100 })])).not.toContain(false)
  })
  it('not before the last week of a round, however many rows were removed', () => {
    expect(onEachDay([some({ removed: 99 })])).not.toContain(true)
  })
  it('once in a week from then on, however long ago a row was hidden', () => {
    for (const days of [29, 35, 700]) {
      const due = onEachDay([some(), some({ removed: 1, oldestUs: cutoffUs - days * dayUs })])
      expect(due.filter((is) => is).length).toBe(5)
      expect(due.lastIndexOf(true) - due.indexOf(true)).toBe(28)
    }
  })
  it('once in a round where no cutoff says since when rows are hidden', () => {
    for (const rows of [some({ cutoffUs: undefined }), some({ newestUs: cutoffUs })]) {
      expect(onEachDay([rows]).filter((is) => is).length).toBe(1)
      expect(onEachDay([rows], 'calls 202602').indexOf(true)).not.toBe(onEachDay([rows]).indexOf(true))
    }
  })
})

it('no hidden row stays in the files for more than a day over the round, whatever days projects keep', () => {
  const monthDays = 31
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 40 }),
      (kept, round) => {
        /** Days of the rows in the files, by project. */
        const files = kept.map(() => Array.from({ length: monthDays }, (_, day) => day))
        for (let today = 0; today <= monthDays + 200 + round + 2; today++) {
          const rows = files.map((days, project): RemovedRows => {
            const cutoff = today - (kept[project] as number)
            const removed = days.filter((day) => day < cutoff)
            return {
              rows: days.length,
              removed: removed.length,
              cutoffUs: cutoff * dayUs,
              oldestUs: (removed[0] ?? 0) * dayUs,
              newestUs: (removed.at(-1) ?? 0) * dayUs,
            }
          })
          if (isRewritten('calls 202601', rows, round, today * 86_400_000))
            for (const [project, days] of files.entries())
              files[project] = days.filter((day) => day >= today - (kept[project] as number))
          const stayed = files.flatMap((days, project) =>
            days.slice(0, 1).map((day) => today - day - (kept[project] as number)),
          )
          expect(Math.max(0, ...stayed)).toBeLessThanOrEqual(round + 1)
        }
      },
    ),
    { numRuns: runs(100, 2_000) },
  )
})
