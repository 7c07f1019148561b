// The budget of work in the background: a tenth of the time for all of it together while batches come.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createBudget } from '../../services/derived/budget.ts'

const stopping = new AbortController()
beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 1, active: 0, utilization: 0 })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Three kinds of work that never end; returns the share of a minute that they took together, and how often each ran. */
async function share(isBusy: boolean, lateness = 0): Promise<{ share: number; runs: number[] }> {
  const budget = createBudget(() => isBusy, stopping.signal)
  let isOver = false
  let tookMs = 0
  const running = { urgent: 0, others: 0 }
  const runs = [0, 0, 0]
  const work = async (n: number, ms: number, isUrgent: boolean): Promise<void> => {
    const kind = isUrgent ? 'urgent' : 'others'
    while (!isOver)
      await budget.run(
        async () => {
          expect(++running[kind]).toBe(1)
          await after(ms)
          running[kind]--
          tookMs += ms
          runs[n] = (runs[n] as number) + 1
        },
        { isUrgent, lateness: () => lateness },
      )
  }
  const all = [work(0, 100, true), work(1, 200, false), work(2, 50, false)]
  await vi.advanceTimersByTimeAsync(60_000)
  const found = { share: tookMs / 60_000, runs: [...runs] }
  isOver = true
  await vi.advanceTimersByTimeAsync(60_000)
  await Promise.all(all)
  return found
}

it('background work has a tenth of the time for all kinds together while batches come, and most of it when none do', async () => {
  const busy = await share(true)
  expect(busy.share).toBeGreaterThan(0.08)
  expect(busy.share).toBeLessThanOrEqual(0.11)
  // None keeps the others away for ever.
  expect(Math.min(...busy.runs)).toBeGreaterThan(5)
  const idle = await share(false)
  expect(idle.share).toBeGreaterThan(0.7)
})

it('the share of background work grows with how late it is, up to all of the time', async () => {
  const half = await share(true, 0.5)
  expect(half.share).toBeGreaterThan(0.15)
  expect(half.share).toBeLessThanOrEqual(0.2)
  const nearly = await share(true, 0.9)
  expect(nearly.share).toBeGreaterThan(0.4)
  expect(nearly.share).toBeLessThanOrEqual(0.55)
  expect((await share(true, 1.5)).share).toBeGreaterThan(0.95)
})

it('late work begins at once, though the event loop is busy and other work has just run for long', async () => {
  vi.mocked(performance.eventLoopUtilization).mockReturnValue({ idle: 0, active: 1, utilization: 1 })
  const budget = createBudget(() => true, stopping.signal)
  let lateness = 0
  const long = budget.run(() => after(1_000), { isUrgent: true })
  await vi.advanceTimersByTimeAsync(1_000)
  await long
  let isDone = false
  const other = budget.run(
    async () => {
      isDone = true
    },
    { lateness: () => lateness },
  )
  await vi.advanceTimersByTimeAsync(20_000)
  expect(isDone).toBe(false)
  lateness = 1
  await vi.advanceTimersByTimeAsync(1_600)
  expect(isDone).toBe(true)
  await other
})

it('urgent work goes first, and the others go on after a failure', async () => {
  const budget = createBudget(() => true, stopping.signal)
  const order: string[] = []
  const piece = (name: string) => async () => {
    order.push(name)
    await after(10)
    if (name === 'first') throw new Error('no')
  }
  const first = budget.run(piece('first'), { isUrgent: true })
  first.catch(() => undefined)
  const others = [budget.run(piece('slow')), budget.run(piece('slow'))]
  await vi.advanceTimersByTimeAsync(50)
  const urgent = budget.run(piece('urgent'), { isUrgent: true })
  await vi.advanceTimersByTimeAsync(5_000)
  await Promise.all([...others, urgent])
  await expect(first).rejects.toThrow('no')
  expect(order).toEqual(['first', 'urgent', 'slow', 'slow'])
})

it('urgent work runs beside a long piece of other work, with rests of its own', async () => {
  const budget = createBudget(() => true, stopping.signal)
  const long = budget.run(() => after(20_000))
  await vi.advanceTimersByTimeAsync(2_000)
  let isOver = false
  let runs = 0
  const urgent = (async () => {
    while (!isOver) {
      await budget.run(() => after(100), { isUrgent: true })
      runs++
    }
  })()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toBeGreaterThan(8)
  expect(runs).toBeLessThan(12)
  isOver = true
  await vi.advanceTimersByTimeAsync(60_000)
  await Promise.all([long, urgent])
})

it('background work rests no more once the process ends', async () => {
  const ending = new AbortController()
  const budget = createBudget(() => true, ending.signal)
  const first = budget.run(() => after(50), { isUrgent: true })
  await vi.advanceTimersByTimeAsync(50)
  await first
  let isDone = false
  const waiting = budget.run(
    async () => {
      isDone = true
    },
    { isUrgent: true },
  )
  await vi.advanceTimersByTimeAsync(400)
  expect(isDone).toBe(false)
  ending.abort()
  // No time passes.
  await vi.advanceTimersByTimeAsync(0)
  expect(isDone).toBe(true)
  await waiting
})

it('late work does not wait for work that still rests, urgent or not', async () => {
  const budget = createBudget(() => true, stopping.signal)
  const began: string[] = []
  const run = (name: string, isUrgent: boolean, lateness: number, ms = 100) =>
    budget.run(
      async () => {
        began.push(name)
        await after(ms)
      },
      { isUrgent, lateness: () => lateness },
    )
  // The long job makes all rest for 18 s that are in time.
  const long = run('long', true, 0, 2_000)
  await vi.advanceTimersByTimeAsync(2_000)
  const index = run('field index', false, 0)
  await vi.advanceTimersByTimeAsync(2_000)
  const all = [long, index, run('late parts', false, 1), run('late counters', true, 1)]
  await vi.advanceTimersByTimeAsync(900)
  expect(began.toSorted()).toEqual(['late counters', 'late parts', 'long'])
  await vi.advanceTimersByTimeAsync(60_000)
  await Promise.all(all)
  expect(began.at(-1)).toBe('field index')
})
