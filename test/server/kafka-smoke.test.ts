// One way through the server on Kafka and a ClickHouse server: calls are written, read at once, and there after a restart.
// smoke: kafka
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'smoke/kafka'
const id = '00000000000000a1'

describe('on Kafka and a ClickHouse server', () => {
  let server: LiveServer
  beforeAll(async () => {
    server = await startLiveServer()
  })
  afterAll(() => server.remove())

  const stored = () =>
    server.list<{ id: string; op_name: string; output: unknown }>('/calls/stream_query', { project_id, sort_by: [] })

  it('writes are read as soon as they are answered, and after a restart', async () => {
    expect(server.config).toMatchObject({
      kafkaBrokers: expect.anything(),
      clickhouseUrl: expect.stringContaining('http'),
    })
    const started_at = new Date().toISOString()
    const start = {
      project_id,
      id,
      trace_id: id.padStart(32, '0'),
      op_name: 'asks',
      started_at,
      attributes: {},
      inputs: { n: 1 },
    }
    await server.send('/call/start', { start })
    expect(await stored()).toMatchObject([{ id, op_name: 'asks' }])
    await server.send('/call/end', { end: { project_id, id, ended_at: started_at, output: 2, summary: {} } })
    expect(await stored()).toMatchObject([{ id, output: 2 }])
    await server.restart()
    expect(await stored()).toMatchObject([{ id, op_name: 'asks', output: 2 }])
  })
})
