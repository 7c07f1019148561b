// A worker that is stopped or disturbed: what fails around it is tried again, and is no crash.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import type { Log } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { openFileDeadLetters } from '../../services/worker/dead-letters/dead-letters-file.ts'
import { startWorker } from '../../services/worker/run.ts'
import { createInFlight } from '../../services/worker/split/in-flight.ts'
import { openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'
import { createTestStore } from '../fixtures/store.ts'

const markOf = (dir: string) => join(dir, 'in-flight-calls-0.json')

const rowOfOne = () =>
  JSON.stringify({
    kind: 'complete',
    project_id: 'crash/outage',
    id: uuidv7(),
    clock: 5,
    started_us: 1.7e15,
    op_name: 'o',
  })

it('a worker survives outages of the store and of the disk, and counts a stop in one as no crash', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(join(dir, 'log'))
  const { store, remove } = await createTestStore()
  onTestFinished(remove)
  const letters = await openFileDeadLetters(dir)
  await log.append('calls', [recordOf([uuidv7()], { rows: Buffer.from(`${rowOfOne()}\n`) })])
  const outage = Object.assign(new Error('ENOSPC: injected'), { code: 'ENOSPC' })
  let failures = 2
  const failing: Log = {
    ...log,
    async commit(position) {
      if (failures-- > 0) throw outage
      await log.commit(position)
    },
  }
  const retries: string[] = []
  const deps = { store, deadLetters: letters, inFlight: createInFlight(dir), onFatal: () => retries.push('fatal') }
  const onRetry = (_: string, error: Error) => retries.push(error.message)
  const worker = startWorker({ ...deps, log: failing, progress: createProgress(), onRetry })
  await worker.caughtUp()
  expect(retries).toEqual([outage.message, outage.message])
  expect(worker.status()).toEqual({ status: 'ok' })
  await worker.stop()
  await expect(worker.deduplicateAll()).rejects.toThrow('the queue is closed')

  await log.append('calls', [recordOf([uuidv7()], { rows: Buffer.from(`${rowOfOne()}\n`) })])
  failures = Number.POSITIVE_INFINITY
  let refused = () => {}
  const isRefused = new Promise<void>((resolve) => {
    refused = resolve
  })
  const stuck = startWorker({ ...deps, log: failing, progress: createProgress(), onRetry: () => refused() })
  await isRefused
  expect(stuck.status()).toEqual({ status: 'degraded', reason: 'calls: the file system fails (ENOSPC)' })
  await stuck.stop()
  expect(existsSync(markOf(dir))).toBe(false)
  expect((await log.committed('calls'))[0]?.offset).toBe(1)
  expect(retries).toHaveLength(2)
  await letters.close()
})
