// Two finished calls of one id under two start times, in segments too large to be looked at row by row: one is left, soon.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { lookupRows } from '../../services/worker/calls.ts'
import { createSweeps } from '../../services/worker/sweeps.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'two/times'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

it('one is left soon after the second batch', async () => {
  const size = lookupRows + 10
  for (const [clock, hour] of [
    [1_000, 10],
    [9_000_000, 11],
  ] as const) {
    const us = Date.UTC(2026, 3, 1, hour) * 1000
    const rows = Array.from({ length: size }, (_, n) =>
      JSON.stringify({
        ...{
          kind: 'complete',
          project_id: project,
          id: idOf(n),
          clock: clock + n,
          started_us: us + n,
          ended_us: us + n,
        },
        ...{ trace_id: idOf(n), op_name: 'o', inputs: { hour }, summary: {} },
      }),
    )
    const text = Buffer.from(`${rows.join('\n')}\n`)
    await server.now().log.append('calls', [{ rows: text, rowCount: size, patchCount: 0, clock: 1n, key: project }])
    await server.send('/calls/query_stats', { project_id: project })
  }
  const hours = async () =>
    (
      await server.list<{ inputs: { hour: number } }>('/calls/stream_query', {
        ...{ project_id: project, filter: { call_ids: [idOf(7)] } },
      })
    ).map(({ inputs }) => inputs.hour)
  await vi.waitFor(async () => expect(await hours()).toEqual([11]), { timeout: 60_000, interval: 100 })
  expect(await server.send('/calls/query_stats', { project_id: project })).toMatchObject({ count: size })
})

it('comes once for many large batches, rests in between, and stays away when it takes long', async () => {
  vi.useFakeTimers()
  try {
    let tookMs = 100
    const began: number[] = []
    const errors: unknown[] = []
    const sweeps = createSweeps({
      async sweep() {
        began.push(Date.now())
        await new Promise((resolve) => setTimeout(resolve, tookMs))
        if (began.length === 2) throw new Error('no')
      },
      onError: (error) => void errors.push(error),
    })
    const startMs = Date.now()
    sweeps.touch()
    sweeps.touch()
    await vi.advanceTimersByTimeAsync(1_050)
    sweeps.touch()
    sweeps.touch()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(began.map((ms) => ms - startMs)).toEqual([1_000])
    tookMs = 3_000
    await vi.advanceTimersByTimeAsync(10_000)
    expect(began.map((ms) => ms - startMs)).toEqual([1_000, 6_100])
    expect(errors).toHaveLength(1)
    sweeps.touch()
    await vi.advanceTimersByTimeAsync(600_000)
    expect(began).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(began).toHaveLength(3)
    sweeps.stop()
    await vi.advanceTimersByTimeAsync(7_200_000)
    expect(began).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})
