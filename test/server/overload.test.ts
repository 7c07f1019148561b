// tier: deep slow
// More calls than are applied: who writes is told to wait, and who counts gets a right number or none.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { post, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'

const project_id = 'over/load'
const [writers, batches, size] = [4, 75, 1_000]

const batchOf = (count: number): object => ({
  batch: Array.from({ length: count }, (_, n) => {
    const [id, at] = [uuidv7(), new Date().toISOString()]
    const times = { started_at: at, ended_at: at }
    return {
      project_id,
      id,
      trace_id: id,
      op_name: 'x',
      ...times,
      attributes: {},
      inputs: { n },
      output: n,
      summary: {},
    }
  }),
})

it('a count never lacks what was acknowledged before it was asked for', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'callhouse-overload-'))
  const server = await startChildServer(dataDir, { CALLHOUSE_FRESHNESS_MS: '2000' })
  onTestFinished(async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  let acknowledged = 0
  let isOver = false
  const statuses = new Set<number>()
  const write = async () => {
    for (let n = 0; n < batches; ) {
      const { status, headers } = await post(server.url, '/v2/over/load/calls/complete', batchOf(size))
      statuses.add(status)
      if (status === 200) {
        acknowledged += size
        n++
      } else await sleep(1_000 * Number(headers.get('retry-after')))
    }
  }
  const wrong: string[] = []
  const count = async (): Promise<number | undefined> => {
    const least = acknowledged
    const { status, text } = await post(server.url, '/calls/query_stats', { project_id })
    const found = status === 200 ? (JSON.parse(text) as { count: number }).count : undefined
    if (found === undefined ? status !== 503 : found < least) wrong.push(`${least} acknowledged: ${status} ${text}`)
    return found
  }
  const reading = (async () => {
    while (!isOver) await Promise.all([count(), sleep(50)])
  })()
  await Promise.all(Array.from({ length: writers }, write))
  isOver = true
  await reading
  expect(wrong).toEqual([])
  expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([])
  await eventually(async () => expect(await count()).toBe(writers * batches * size), { withinMs: 60_000 })
}, 600_000)
