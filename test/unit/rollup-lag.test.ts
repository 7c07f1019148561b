// The lag of a rollup: from the first change that it may lack until a recompute that began after the last one.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Position } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import type { Rollups } from '../../services/derived/rollups/group.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

let rollups: Rollups
let offset = 0
let during = async (): Promise<void> => {}
/** Statements that were run. */
let ran: string[] = []
const start = (committed: () => Position[] = () => [{ topic: 'calls', partition: 0, offset: ++offset }]): void => {
  during = async () => {}
  ran = []
  const store: Partial<Store> = {
    // The covered position, or the dirty minutes.
    rows: async <T>({ params: { name } }: { params: Record<string, unknown> }) => [
      (name ? { name, partition: 0, position: 0, revision: 0 } : { project_id: 'a/b', minute: 60, seconds: '0' }) as T,
    ],
    command: (statement: { name: string }) => {
      ran.push(statement.name)
      return during()
    },
  }
  rollups = createRollups({ store: store as Store, committed: async () => committed(), onError: () => {} })
}
const lags = () => rollups.lag().map(({ name, lagMs }) => `${name} ${lagMs}`)

const allAt = (lagMs: number) => ['call_counts', 'call_stats', 'trace_parts'].map((name) => `${name} ${lagMs}`)

it('the lag of a rollup grows from the first change, and ends with a recompute', async () => {
  start()
  expect(lags()).toEqual(allAt(0))
  rollups.onDirty()
  await vi.advanceTimersByTimeAsync(1_000)
  rollups.onDirty()
  await vi.advanceTimersByTimeAsync(500)
  expect(lags()).toEqual(allAt(1500))
  await rollups.refresh()
  expect(lags()).toEqual(allAt(0))
  await rollups.stop()
})

it('the lag of changes that come during a recompute counts from its begin', async () => {
  start()
  rollups.onDirty()
  let isTouched = false
  during = async () => {
    await vi.advanceTimersByTimeAsync(10)
    if (!isTouched) rollups.onDirty()
    isTouched = true
  }
  await rollups.refresh()
  const [counts, stats, parts] = rollups.lag()
  // A refresh begins with the slow ones.
  expect(parts?.lagMs).toBeGreaterThan(0)
  // The others began after the change.
  expect([counts?.lagMs, stats?.lagMs]).toEqual([0, 0])
  await rollups.stop()
})

it('the lag goes on growing while recomputing fails, and is 0 where another worker recomputes', async () => {
  start()
  during = () => Promise.reject(new Error('outage'))
  rollups.onDirty()
  await vi.advanceTimersByTimeAsync(1_000)
  await expect(rollups.refresh()).rejects.toThrow('outage')
  expect(lags()).toEqual(allAt(1000))
  await rollups.stop()

  start(() => [])
  rollups.onDirty()
  await vi.advanceTimersByTimeAsync(1_000)
  await rollups.refresh()
  expect(lags()).toEqual(allAt(0))
  await rollups.stop()
})

it('a slow rollup waits for more changes, while the others are recomputed every two seconds', async () => {
  let end = 1
  start(() => [{ topic: 'calls', partition: 0, offset: end }])
  const counts = (name: string) => ran.filter((one) => one === name).length
  for (let second = 0; second < 14; second++) {
    end++
    rollups.onDirty()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(counts('call-stats')).toBeGreaterThan(4)
  expect(counts('trace-parts')).toBe(0)
  // Nothing comes any more.
  await vi.advanceTimersByTimeAsync(4_000)
  expect(counts('trace-parts')).toBe(1)
  expect(lags()).toEqual(allAt(0))
  await rollups.stop()
})
