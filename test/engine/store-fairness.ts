// Part of the store's contract: reads that wait for a connection take turns by project.
import { describe, expect, test } from 'vitest'
import { type ProjectId, parseProjectId } from '../../services/core/ids.ts'
import { type Query, type QueryOptions, type Store, StoreError } from '../../services/core/store/store.ts'

const [noisy, quiet] = [parseProjectId('turns/noisy'), parseProjectId('turns/quiet')]
const maxWaiting = 32

const read = (projectId: ProjectId, sql = 'SELECT 1 AS n'): Query => ({ name: 'test', sql, params: {}, projectId })

/** @param places connections for reads */
export function readsTakeTurns(places: number, store: () => Store): void {
  /** Reads of the noisy project that end only when they are stopped. */
  function crowd(size: number) {
    const stop = new AbortController()
    const outcomes = new Map<string, number>()
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    const endless = read(noisy, 'SELECT sleepEachRow(0.5) FROM numbers(200) SETTINGS max_block_size = 1')
    const options = (): QueryOptions => ({ timeoutMs: 60_000, signal: AbortSignal.any([stop.signal]) })
    const reads = Array.from({ length: size }, () =>
      store()
        .rows(endless, options())
        .then(
          () => count('ended'),
          (error: unknown) => count(error instanceof StoreError ? error.kind : String(error)),
        ),
    )
    return {
      outcomes,
      async leave() {
        stop.abort()
        await Promise.all(reads)
      },
    }
  }

  describe('reads that wait for a connection', () => {
    test('let a read of another project pass at once, and only so many of a project wait', async () => {
      const { outcomes, leave } = crowd(60)
      expect(await store().rows(read(quiet))).toEqual([{ n: 1 }])
      // One connection is for whoever has none.
      expect(Object.fromEntries(outcomes)).toEqual({ busy: 60 - (places - 1) - maxWaiting })
      await expect(store().rows(read(noisy))).rejects.toMatchObject({ kind: 'busy' })
      await leave()
      expect(outcomes.get('cancelled')).toBe(places - 1 + maxWaiting)
      expect(await store().rows(read(noisy))).toEqual([{ n: 1 }])
    })

    test('are not refused when a read of the same request has been answered', async () => {
      const { signal } = new AbortController()
      expect(await store().rows(read(noisy), { signal })).toEqual([{ n: 1 }])
      const { leave } = crowd(places - 1 + maxWaiting)
      await expect(store().rows(read(noisy))).rejects.toMatchObject({ kind: 'busy' })
      const more = Promise.all([1, 2, 3].map(() => store().rows(read(noisy), { signal })))
      await leave()
      expect(await more).toEqual([[{ n: 1 }], [{ n: 1 }], [{ n: 1 }]])
    })
  })
}
