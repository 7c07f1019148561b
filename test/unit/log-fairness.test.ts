// What a quiet project writes to the log of one machine does not wait for more than two seconds of what a busy one has
// waiting, however much that sends and however slow the machine applies. Time passes as that takes it, and no other.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openLog, temporaryFolder } from '../fixtures/log.ts'

const mib = 2 ** 20
/** A slow machine: of each batch so long, and of each of its bytes. */
const [batchMs, bytesPerSecond] = [30, 12 * mib]
const rowsOf = (project: string, bytes: number): Buffer =>
  Buffer.from(`{"project_id":"${project}","text":"${'x'.repeat(bytes)}"}\n`)
const inputOf = (project: string, rows: Buffer) => [
  { rows, rowCount: 1, patchCount: 0, clock: 1n, key: project, projects: new Map([[project, rows.length]]) },
]

it('a quiet project waits for at most two seconds of applying beside more than ten times the load', async () => {
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  const log = await openLog(await temporaryFolder(), { maxUnappliedBytes: 512 * mib, sealAfterMs: 60 })
  const stop = new AbortController()
  let applied = { bytes: 0, offset: 0 }
  let sentBytes = 0
  const apply = async () => {
    for await (const { records, lastOffset } of log.consume('calls', stop.signal)) {
      const bytes = records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      // Meanwhile more than ten times as much is sent.
      const sentBefore = sentBytes
      while (sentBytes - sentBefore < 11 * bytes && !stop.signal.aborted) await turn()
      nowMs += batchMs + (bytes / bytesPerSecond) * 1000
      await log.commit({ topic: 'calls', partition: 0, offset: lastOffset })
      applied = { bytes: applied.bytes + bytes, offset: lastOffset }
    }
  }
  const busy = inputOf('fair/busy', rowsOf('fair/busy', mib / 2))
  const send = async () => {
    while (!stop.signal.aborted) {
      // Many at once, and what is refused comes again at once, which is more than clients do.
      await Promise.allSettled(Array.from({ length: 64 }, () => log.append('calls', busy)))
      sentBytes += 64 * (mib / 2)
      await turn()
    }
  }
  const quiet = inputOf('fair/quiet', rowsOf('fair/quiet', 100))
  const running = [apply(), send(), send()]
  /** Milliseconds until it is applied. */
  const write = async (): Promise<number> => {
    const beganMs = nowMs
    const { offset } = await log.append('calls', quiet)
    while (applied.offset < offset) await turn()
    return nowMs - beganMs
  }
  await write()
  // By then the pace is known, and what was taken in before it was is applied.
  while (nowMs < 7_000) await turn()
  const waitedMs: number[] = []
  for (let n = 0; n < 4; n++) waitedMs.push(await write())
  stop.abort()
  await Promise.all(running)
  // Others waited: a log that nobody fills would prove nothing.
  expect(Math.min(...waitedMs)).toBeGreaterThan(100)
  expect(Math.max(...waitedMs)).toBeLessThan(2_000)
})
