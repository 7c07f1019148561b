// The store contract on the embedded engine.
import { createEmbeddedStore } from '../../services/core/store/embedded.ts'
import { storeContract } from './store.contract.ts'

storeContract({
  name: 'embedded',
  async open(dir) {
    const store = await createEmbeddedStore({
      dir,
      memoryCapBytes: 2 ** 31,
      queryTimeoutMs: 30_000,
      queryMemoryBytes: 2 ** 29,
    })
    await store.migrate()
    return store
  },
})
