// A server that was told to answer counts that may lack accepted writes, and says so.
import { expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { blockInserts } from '../fixtures/blocked-inserts.ts'
import { post } from '../fixtures/child-server.ts'
import { startLiveServer } from '../fixtures/live-server.ts'

it('gives the count of what is in the tables', async () => {
  const server = await startLiveServer(['--freshness-ms', '200', '--stale-counts', 'true'])
  onTestFinished(() => server.remove())
  const { url, store } = server.now()
  const { arrived, release } = blockInserts(store)
  onTestFinished(release)
  const at = new Date().toISOString()
  const start = { project_id: 'stale/counts', id: uuidv7(), op_name: 'x', started_at: at, attributes: {}, inputs: {} }
  expect((await post(url, '/call/start', { start })).status).toBe(200)
  await arrived
  const { status, headers, text } = await post(url, '/calls/query_stats', { project_id: 'stale/counts' })
  expect([status, (JSON.parse(text) as { count: number }).count]).toEqual([200, 0])
  expect(Number(headers.get('x-callhouse-stale'))).toBeGreaterThan(0)
})
