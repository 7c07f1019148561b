// Writes of a quiet project to the log of one machine do not wait for more than two seconds of a busy one's backlog,
// however much that sends and however fast or slow the machine applies. Time passes as applying takes it, and no other:
// while a batch is applied the busy project sends until it is refused, and nothing is sent between two batches.
import { expect, it, onTestFinished, vi } from 'vitest'
import { openLog, temporaryFolder } from '../fixtures/log.ts'

const mib = 2 ** 20
/** Each batch takes so long besides its bytes. */
const batchMs = 30
const rowsOf = (project: string, bytes: number): Buffer =>
  Buffer.from(`{"project_id":"${project}","text":"${'x'.repeat(bytes)}"}\n`)
const inputOf = (project: string, rows: Buffer) => [
  { rows, rowCount: 1, patchCount: 0, clock: 1n, key: project, projects: new Map([[project, rows.length]]) },
]

it.each([12, 30])('a quiet project waits for two seconds of applying at most, of %i MiB/s', async (mibPerSecond) => {
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  const log = await openLog(await temporaryFolder(), { maxUnappliedBytes: 512 * mib })
  const busy = inputOf('fair/busy', rowsOf('fair/busy', mib / 2))
  const quiet = inputOf('fair/quiet', rowsOf('fair/quiet', 100))
  const fill = async () => {
    let refused = false
    while (!refused) {
      const sent = await Promise.allSettled(Array.from({ length: 16 }, () => log.append('calls', busy)))
      refused = sent.some(({ status }) => status === 'rejected')
    }
  }
  // A project that is alone may fill the log.
  await log.append('calls', quiet)
  const stop = new AbortController()
  const waitedMs: number[] = []
  let written: { offset: number; atMs: number } | undefined
  for await (const { records, lastOffset } of log.consume('calls', stop.signal)) {
    await fill()
    // Before, the pace is not known, and what was taken in until it was waits.
    if (nowMs > 12_000) written ??= { offset: (await log.append('calls', quiet)).offset, atMs: nowMs }
    nowMs += batchMs + (records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / (mibPerSecond * mib)) * 1000
    await log.commit({ topic: 'calls', partition: 0, offset: lastOffset })
    if (written !== undefined && written.offset <= lastOffset) {
      waitedMs.push(nowMs - written.atMs)
      written = undefined
    }
    if (waitedMs.length === 4) stop.abort()
  }
  // Others waited: a log that nobody fills would prove nothing.
  expect(Math.min(...waitedMs)).toBeGreaterThan(500)
  expect(Math.max(...waitedMs)).toBeLessThan(2_000)
})
