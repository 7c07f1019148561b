// Reads of the query log itself: they must not take the room of requests where reads are slow because many wait.
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Logger } from '../../services/core/process/logger.ts'
import { withReadLog } from '../../services/core/store/read-log.ts'
import { createReadTimes } from '../../services/core/store/read-times.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { eventually } from '../fixtures/eventually.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('of many slow reads one is estimated, outside of the queue of its project', async () => {
  const asked: Query[] = []
  const slow = Promise.withResolvers<unknown[]>()
  const lines: { rowsRead?: number }[] = []
  const store = {
    async rows(query: Query) {
      asked.push(query)
      return query.sql.startsWith('EXPLAIN') ? [{ rows: 7 }] : slow.promise
    },
  } as unknown as Store
  const logger = {
    isLevelEnabled: () => false,
    info: (line: object) => void lines.push(line),
  } as unknown as Logger
  const { rows } = withReadLog(store, { logger, registry: new Registry() })
  const query = { name: 'calls.page', sql: 'SELECT 1 FROM callhouse.calls', params: {}, projectId: 'a/b' as ProjectId }
  const reads = Array.from({ length: 20 }, () => rows(query))
  await vi.advanceTimersByTimeAsync(1_500)
  slow.resolve([])
  await Promise.all(reads)
  await eventually(() => expect(lines).toHaveLength(20))
  const estimates = asked.filter(({ sql }) => sql.startsWith('EXPLAIN'))
  expect(estimates.map(({ projectId }) => projectId)).toEqual([undefined])
  expect(lines.flatMap(({ rowsRead }) => rowsRead ?? [])).toEqual([7])
})

it('times of reads are percentiles of the latest ones of each, the slowest first', () => {
  const times = createReadTimes()
  for (let n = 1; n <= 100; n++) times.add('calls.page', 'index', n)
  times.add('costs.query', 'table', 500)
  expect(times.slowest(5)).toEqual([
    { name: 'costs.query', path: 'table', count: 1, p50Ms: 500, p95Ms: 500 },
    { name: 'calls.page', path: 'index', count: 100, p50Ms: 50, p95Ms: 95 },
  ])
  for (let n = 0; n < 300; n++) times.add('calls.page', 'index', 1)
  expect(times.slowest(1)).toEqual([{ name: 'costs.query', path: 'table', count: 1, p50Ms: 500, p95Ms: 500 }])
  expect(times.slowest(2)[1]).toEqual({ name: 'calls.page', path: 'index', count: 400, p50Ms: 1, p95Ms: 1 })
})
