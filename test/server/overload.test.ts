// tier: deep slow
// More calls than are applied: who writes is told to wait, and who counts gets a right number or none.
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'over/load'
/** About 75 MiB, for which the tables take over nine seconds. */
const [writers, batches, size] = [4, 75, 250]
const appliedBytesPerMs = (8 * 2 ** 20) / 1_000
const text = 'x'.repeat(1_000)

const batch = (): object => ({
  batch: Array.from({ length: size }, () => {
    const [id, at] = [uuidv7(), new Date().toISOString()]
    const times = { started_at: at, ended_at: at }
    return { project_id, id, trace_id: id, op_name: 'x', ...times, attributes: {}, inputs: { text }, summary: {} }
  }),
})

it('a count never lacks what was acknowledged before it was asked for', async () => {
  const server = await startLiveServer(['--freshness-ms', '2000'])
  onTestFinished(() => server.remove())
  const { url, store } = server.now()
  const { insert } = store
  store.insert = async (topic, source) => {
    const bytes =
      'file' in source ? (await stat(source.file)).size : source.bytes.reduce((sum, one) => sum + one.length, 0)
    await sleep(bytes / appliedBytesPerMs)
    return insert(topic, source)
  }
  let acknowledged = 0
  let isOver = false
  const written = new Set<number>()
  const write = async () => {
    for (let n = 0; n < batches; ) {
      const { status, headers } = await post(url, '/v2/over/load/calls/complete', batch())
      written.add(status)
      if (status === 200) {
        acknowledged += size
        n++
      } else await sleep(1_000 * Number(headers.get('retry-after')))
    }
  }
  const wrong: string[] = []
  const count = async (): Promise<number | undefined> => {
    const least = acknowledged
    const { status, text: answer } = await post(url, '/calls/query_stats', { project_id })
    const found = status === 200 ? (JSON.parse(answer) as { count: number }).count : undefined
    if (found === undefined ? status !== 503 : found < least) wrong.push(`${least} acknowledged: ${status} ${answer}`)
    return found
  }
  const reading = (async () => {
    while (!isOver) await Promise.all([count(), sleep(50)])
  })()
  await Promise.all(Array.from({ length: writers }, write))
  isOver = true
  await reading
  expect(wrong).toEqual([])
  expect(written).toEqual(new Set([200, 429]))
  await eventually(async () => expect(await count()).toBe(writers * batches * size), { withinMs: 60_000 })
}, 600_000)
