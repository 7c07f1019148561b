// Batches that are too much for the store at once: many months, too little memory.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'many/months'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const monthUs = (n: number) => Date.UTC(2005, n, 3) * 1000
const months = 20

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

async function append(rows: object[], patchCount: number): Promise<void> {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await server
    .now()
    .log.append('calls', [{ rows: Buffer.from(text), rowCount: rows.length, patchCount, clock: 1n, key: project }])
}

describe('rows of twenty months in one batch', () => {
  const complete = (n: number) => ({
    kind: 'complete',
    project_id: project,
    id: idOf(n),
    clock: 1000 + n,
    started_us: monthUs(n % months),
    ended_us: monthUs(n % months) + 5,
    trace_id: `"started_us":${n}`,
    op_name: 'old',
    inputs: { n },
    summary: {},
  })
  const end = (n: number) => ({
    kind: 'end',
    project_id: project,
    id: idOf(n),
    clock: 5000 + n,
    ended_us: monthUs(months),
    payload_us: monthUs(months),
    exception: 'late',
    output: { n },
    summary: {},
  })

  it('are all there, and no insert opened more than a few months', async () => {
    await append(
      Array.from({ length: 2 * months }, (_, n) => complete(n)),
      0,
    )
    const found = await server.list<{ id: string; started_at: string; inputs: { n: number } }>('/calls/stream_query', {
      project_id: project,
    })
    expect(found).toHaveLength(2 * months)
    expect(found.every(({ id, inputs }) => id === idOf(inputs.n))).toBe(true)
    const [most] = await server.now().store.rows<{ n: number }>({
      name: 'test.months',
      sql: `SELECT toUInt32(uniqExact(partition)) AS n FROM system.parts WHERE database = 'callhouse' AND table = 'calls'`,
      params: {},
    })
    expect(most?.n).toBe(months)
    expect(server.lines.join('')).not.toContain('store refused')
  })

  it('are merged with ends that come later, in one batch too', async () => {
    await append(
      Array.from({ length: months }, (_, n) => end(n)),
      months,
    )
    const found = await server.list<{ exception: string | null; output: unknown; inputs: { n: number } }>(
      '/calls/stream_query',
      { project_id: project },
    )
    expect(found).toHaveLength(2 * months)
    for (const { exception, inputs, output } of found) {
      expect(exception).toBe(inputs.n < months ? 'late' : null)
      expect(output).toEqual(inputs.n < months ? { n: inputs.n } : null)
    }
    expect(server.lines.join('')).not.toContain('store refused')
  })
})
