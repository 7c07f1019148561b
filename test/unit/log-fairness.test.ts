// What a quiet project writes to the log of one machine does not wait for more than two seconds of what a busy one has
// waiting, however much that sends and however slow the machine applies.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
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
  const log = await openLog(await temporaryFolder(), { maxUnappliedBytes: 512 * mib, sealAfterMs: 60 })
  const stop = new AbortController()
  let applied = { bytes: 0, offset: 0 }
  const apply = async () => {
    for await (const { records, lastOffset } of log.consume('calls', stop.signal)) {
      const bytes = records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      await sleep(batchMs + (bytes / bytesPerSecond) * 1000)
      await log.commit({ topic: 'calls', partition: 0, offset: lastOffset })
      applied = { bytes: applied.bytes + bytes, offset: lastOffset }
    }
  }
  let sentBytes = 0
  const busy = inputOf('fair/busy', rowsOf('fair/busy', mib / 2))
  const send = async () => {
    while (!stop.signal.aborted) {
      // Many at once, and what is refused comes again at once, which is more than clients do.
      await Promise.allSettled(Array.from({ length: 64 }, () => log.append('calls', busy)))
      sentBytes += 64 * (mib / 2)
      await sleep(5)
    }
  }
  const quiet = inputOf('fair/quiet', rowsOf('fair/quiet', 100))
  const running = [apply(), send(), send()]
  const write = async (): Promise<number> => {
    const before = applied.bytes
    const { offset } = await log.append('calls', quiet)
    while (applied.offset < offset) await sleep(2)
    return applied.bytes - before
  }
  await write()
  // By then the pace is known, and what was taken in before it was is applied.
  await sleep(7_000)
  const began = { atMs: performance.now(), bytes: applied.bytes }
  const sentBefore = sentBytes
  const waitedFor: number[] = []
  for (let n = 0; n < 4; n++) waitedFor.push(await write())
  const [sent, done] = [sentBytes - sentBefore, applied.bytes - began.bytes]
  const perSecond = (done / (performance.now() - began.atMs)) * 1000
  stop.abort()
  await Promise.all(running)
  expect(sent).toBeGreaterThan(10 * done)
  expect(Math.max(...waitedFor) / perSecond).toBeLessThan(2)
})
