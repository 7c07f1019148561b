// Child process: inserts and merges one file in a throw-away engine, to learn whether its rows make the engine abort.
// argv: topic, file, memory of the engine. Exit code 0 = the engine survived, whether it took the rows or refused them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createEmbeddedStore } from '../core/store/chdb/chdb-store.ts'
import { StoreError } from '../core/store/store.ts'
import { topicNamed } from '../events/registry.ts'
import { createCallMaterializer } from './calls/merge-fragments.ts'
import { tooMuchExitCode } from './split/child-probe.ts'

const [, , topic, file, memoryCapBytes] = process.argv
try {
  // Where memory is short this process is the one to go, and not the server that waits for it.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // only Linux knows it
}
// Beside the file, in a folder that whoever asks removes: a child that is killed removes nothing.
const dir = mkdtempSync(join(dirname(file as string), 'engine-'))
try {
  const store = await createEmbeddedStore({
    dir,
    memoryCapBytes: Number(memoryCapBytes),
    queryTimeoutMs: 60_000,
    queryMemoryBytes: Number(memoryCapBytes) / 2,
  })
  await store.migrate()
  try {
    const { rowsRead } = await store.insert(topicNamed(topic as string), { file: file as string })
    if (topic === 'calls')
      await createCallMaterializer(store).afterInsert({
        partition: 0,
        rowCount: rowsRead,
        patchCount: 0,
        lastOffset: 1,
      })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.kind === 'memory' || error.kind === 'timeout') process.exitCode = tooMuchExitCode
  }
  await store.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
