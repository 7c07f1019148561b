// The store contract on the embedded engine.
// again: property
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'
import { storeContract } from './store.contract.ts'

const interactiveConnections = 5

storeContract({
  name: 'embedded',
  interactiveConnections,
  async open(dir) {
    await copyMigratedStore(dir)
    const store = await createEmbeddedStore({
      dir,
      memoryCapBytes: 2 ** 31,
      queryTimeoutMs: 30_000,
      queryMemoryBytes: 2 ** 29,
      interactiveConnections,
    })
    await store.migrate()
    return store
  },
})
