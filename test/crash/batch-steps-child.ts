// Run as a process of its own: appends rows of calls to a log, applies them, and ends itself at a step of the batch. Steps
// are the times before and after each statement that changes something and each commit. Prints what is there in the end.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFs } from '../../services/core/files/disk.ts'
import type { Log } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { openFileDeadLetters } from '../../services/worker/dead-letters/dead-letters-file.ts'
import { startWorker } from '../../services/worker/run.ts'
import { noInFlight } from '../../services/worker/split/in-flight.ts'
import { project, visible } from '../fixtures/call-parts.ts'

const [dir, endAt, rowsFile] = process.argv.slice(2) as [string, string, string?]
let isCounting = false
let steps = 0
const step = (): void => {
  if (isCounting && ++steps === Number(endAt)) process.kill(process.pid, 'SIGKILL')
}
async function around<T>(work: () => Promise<T>): Promise<T> {
  step()
  const done = await work()
  step()
  return done
}

const store = await createEmbeddedStore({
  dir,
  memoryCapBytes: 2 ** 31,
  queryTimeoutMs: 60_000,
  queryMemoryBytes: 2 ** 30,
})
const log = await createEmbeddedLog({
  dir: join(dir, 'log'),
  topics,
  maxUnappliedBytes: 2 ** 30,
  minFreeBytes: 0,
  retentionMs: 86_400_000,
  sealAfterMs: 1,
  flushEveryMs: 1,
  fs: { ...nodeFs, space: async () => ({ freeBytes: 2 ** 40, totalBytes: 2 ** 41 }) },
})
const stepping: { store: Store; log: Log } = {
  store: {
    ...store,
    command: (query, options) => around(() => store.command(query, options)),
    insert: (topic, source) => around(() => store.insert(topic, source)),
  },
  log: { ...log, commit: (position) => around(() => log.commit(position)) },
}
const deadLetters = await openFileDeadLetters(dir)
const worker = startWorker({
  ...stepping,
  deadLetters,
  inFlight: noInFlight,
  progress: createProgress(),
  ownsTables: true,
  onFatal(error) {
    throw error
  },
})
await worker.caughtUp()
// The worker reads known calls in the background.
await worker.rollups.refresh()
if (rowsFile) {
  const rows = readFileSync(rowsFile)
  const lines = rows.toString().split('\n').filter(Boolean)
  const patchCount = lines.filter((line) => !line.startsWith('{"kind":"complete"')).length
  await log.append('calls', [{ rows, rowCount: lines.length, patchCount, clock: 1n, key: 'one' }])
  isCounting = true
  await worker.caughtUp()
  isCounting = false
}
await worker.rollups.refresh()
const params = { project }
const rows = await store.rows({ name: 'calls', sql: visible, params })
const [counted] = await store.rows({
  name: 'counts',
  sql: `SELECT (SELECT toUInt32(sum(calls)) FROM callhouse.call_counts FINAL WHERE project_id = {project:String}) AS counters,
    (SELECT toUInt32(uniqExact(key)) FROM callhouse.call_keys WHERE project_id = {project:String} AND kind = 'id') AS keys`,
  params,
})
const dead = (await deadLetters.list()).length
await worker.stop()
await store.close()
process.stdout.write(`${JSON.stringify({ steps, dead, counted, rows })}\n`, () => process.exit(0))
