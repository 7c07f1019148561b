// Child process: inserts and folds one file in a throw-away engine, to learn whether its rows make the engine abort.
// argv: topic, file. Exit code 0 = the engine survived, whether it took the rows or refused them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedStore } from '../core/store/embedded.ts'
import { type TopicName, topics } from '../core/topics.ts'
import { createCallMaterializer } from './calls.ts'

const [, , topic, file] = process.argv
const dir = mkdtempSync(join(tmpdir(), 'callhouse-probe-'))
try {
  const store = await createEmbeddedStore({
    dir,
    memoryCapBytes: 2 ** 31,
    queryTimeoutMs: 60_000,
    queryMemoryBytes: 2 ** 30,
  })
  await store.migrate()
  try {
    const { rowsRead } = await store.insert(topics[topic as TopicName], { file: file as string })
    if (topic === 'calls')
      await createCallMaterializer(store).after({ partition: 0, rowCount: rowsRead, patchCount: 0, lastOffset: 1 })
  } catch (error) {
    process.stdout.write(`refused: ${error instanceof Error ? error.message.slice(0, 500) : ''}\n`)
  }
  await store.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
