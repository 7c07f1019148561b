// Child process of the engine tests: opens a store and ends in the way that argv says.
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { StoreError } from '../../services/core/store/store.ts'

const [, , dir, how] = process.argv
try {
  const store = await createEmbeddedStore({
    dir: dir as string,
    memoryCapBytes: 2 ** 30,
    queryTimeoutMs: 10_000,
    queryMemoryBytes: 2 ** 28,
  })
  await store.migrate()
  process.stdout.write('opened\n')
  const slow = () =>
    store
      .rows({ name: 'slow', sql: 'SELECT sleepEachRow(0.05) FROM numbers(10) SETTINGS max_block_size = 1', params: {} })
      .catch(() => {})
  if (how === 'hold') setInterval(() => undefined, 2 ** 30)
  else if (how === 'close') await store.close()
  else {
    if (how === 'busy') void slow()
    process.exit(0)
  }
} catch (error) {
  if (!(error instanceof StoreError)) throw error
  process.stdout.write(`${error.kind}: ${error.message}\n`)
}
