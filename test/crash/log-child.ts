// Run as a process of its own: appends to a log and prints what was acknowledged, until it is killed. Round 0 appends
// nothing. The third argument sets times of the lock, and `kernel: 'none'` makes the file system one without locks.

import { nodeFs } from '../../services/core/files/disk.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { takeLock } from '../../services/core/process/folder-lock.ts'
import { topics } from '../../services/events/registry.ts'
import { recordOf } from '../fixtures/log-record.ts'

const [dir, round, lockOptions] = process.argv.slice(2) as [string, string, string?]
const { kernel, ...times } = JSON.parse(lockOptions ?? '{}') as { kernel?: 'none' }
const lock = await takeLock(dir, { ...times, ...(kernel && { lock: () => kernel }) })
const log = await createEmbeddedLog({
  dir,
  topics,
  lock,
  fs: { ...nodeFs, space: async () => ({ freeBytes: 2 ** 40, totalBytes: 2 ** 41 }) },
  maxUnappliedBytes: 2 ** 30,
  minFreeBytes: 0,
  retentionMs: 86_400_000,
  segmentBytes: 16_384,
  sealAfterMs: 1,
  flushEveryMs: 1,
})
process.stdout.write('open\n')
if (round === '0') await new Promise((resolve) => setInterval(resolve, 2 ** 30))

async function consume(): Promise<void> {
  for await (const { lastOffset } of log.consume('calls', new AbortController().signal)) {
    await log.commit({ topic: 'calls', partition: 0, offset: lastOffset })
    process.stdout.write(`committed ${lastOffset}\n`)
    if (lastOffset % 5 === 0) await log.tidy()
  }
}

let next = 0
async function append(): Promise<void> {
  for (;;) {
    const id = `${round}:${next++}`
    const record = recordOf([id], { text: 'y'.repeat((next * 37) % 3000) })
    const { offset } = await log.append('calls', [record])
    process.stdout.write(`acknowledged ${id} ${offset}\n`)
  }
}

await Promise.all([consume(), ...Array.from({ length: 8 }, append)])
