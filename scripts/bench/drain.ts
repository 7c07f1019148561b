// Applies an unapplied log once and prints the CPU it took. argv: data folder, `worker` or `raw`.
// raw = the segments by plain file() inserts into the same landing table, without syncs, merges of calls, dirty buckets and positions.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createProgress } from '../../services/core/log/progress.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { structureOf } from '../../services/core/log/topic.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { topics } from '../../services/events/registry.ts'
import { openFileDeadLetters } from '../../services/worker/dead-letters/dead-letters-file.ts'
import { startWorker } from '../../services/worker/run.ts'
import { createInFlight } from '../../services/worker/split/in-flight.ts'
import { openRawEngine } from './raw-engine.ts'

const [, , dir, mode] = process.argv as [string, string, string, string]
const folder = join(dir, mode)
mkdirSync(folder, { recursive: true })
const store = await createEmbeddedStore({
  dir: folder,
  memoryCapBytes: 2 ** 32,
  queryTimeoutMs: 60_000,
  queryMemoryBytes: 2 ** 31,
})
await store.migrate()
const before = process.cpuUsage()
const beganMs = performance.now()
let stop = async (): Promise<void> => undefined
if (mode === 'worker') {
  const log = await createEmbeddedLog({
    dir: join(dir, 'log'),
    topics,
    maxUnappliedBytes: 2 ** 40,
    minFreeBytes: 0,
    retentionMs: 2 ** 40,
  })
  const worker = startWorker({
    log,
    store,
    progress: createProgress(),
    ownsTables: true,
    deadLetters: await openFileDeadLetters(folder),
    inFlight: createInFlight(folder),
    onFatal(error) {
      throw error
    },
  })
  await worker.caughtUp()
  stop = () => worker.stop()
} else {
  await store.close()
  const engine = openRawEngine(folder)
  await engine.run('SYSTEM DROP MARK CACHE')
  for (const table of ['calls', 'payloads', 'call_patches', 'call_keys', 'turns'])
    await engine.run(
      `ALTER TABLE callhouse.${table} MODIFY SETTING fsync_after_insert = 0, fsync_part_directory = 0, min_rows_to_fsync_after_merge = 0`,
    )
  const segments = join(dir, 'log', 'calls')
  for (const name of readdirSync(segments)
    .filter((one) => one.endsWith('.jsonl'))
    .sort())
    await engine.run(
      `INSERT INTO callhouse.calls_in SELECT * FROM file('${join(segments, name)}', JSONEachRow, '${structureOf(topics.calls).replaceAll("'", "\\'")}') SETTINGS async_insert = 0, max_partitions_per_insert_block = 0`,
    )
}
const used = process.cpuUsage(before)
process.stdout.write(
  `${JSON.stringify({ cpuSeconds: (used.user + used.system) / 1e6, wallMs: performance.now() - beganMs })}\n`,
)
await stop()
if (mode === 'worker') await store.close()
process.exit(0)
