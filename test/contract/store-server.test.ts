// The store contract on the server driver, over the bridge's HTTP.
import { afterAll, beforeAll } from 'vitest'
import { createServerStore } from '../../services/core/store/server.ts'
import { type Bridge, startBridge } from '../fixtures/bridge.ts'
import { storeContract } from './store.contract.ts'

let bridge: Bridge
beforeAll(async () => {
  bridge = await startBridge()
})
afterAll(() => bridge.remove())

storeContract({
  name: 'server',
  async open() {
    const { url, user, password } = bridge
    const store = await createServerStore({
      url,
      user,
      password,
      compression: true,
      queryTimeoutMs: 30_000,
      queryMemoryBytes: 2 ** 29,
    })
    await store.migrate()
    return store
  },
})
