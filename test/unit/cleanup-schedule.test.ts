// When the clean-up runs: soon after a large batch, once for many of them, and hourly.
import { expect, it, vi } from 'vitest'
import { scheduleCleanup } from '../../services/derived/cleanup-schedule.ts'

it('deduplication runs once for many large batches, and again when more came meanwhile', async () => {
  vi.useFakeTimers()
  try {
    const began: number[] = []
    const errors: unknown[] = []
    let hours = 0
    const sweeps = scheduleCleanup({
      async deduplicate() {
        began.push(Date.now())
        await new Promise((resolve) => setTimeout(resolve, 100))
        if (began.length === 2) throw new Error('no')
      },
      hourly: async () => void hours++,
      onError: (error) => void errors.push(error),
    })
    const startMs = Date.now()
    sweeps.onLargeBatch()
    sweeps.onLargeBatch()
    await vi.advanceTimersByTimeAsync(1_050)
    sweeps.onLargeBatch()
    sweeps.onLargeBatch()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(began.map((ms) => ms - startMs)).toEqual([1_000, 2_100])
    expect(errors).toHaveLength(1)
    expect(hours).toBe(0)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(began).toHaveLength(3)
    expect(hours).toBe(1)
    sweeps.stop()
    await vi.advanceTimersByTimeAsync(7_200_000)
    expect([began.length, hours]).toEqual([3, 1])
  } finally {
    vi.useRealTimers()
  }
})
