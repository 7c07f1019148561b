// tier: deep kafka
// The store contract on the server driver: over the bridge, and on a real server where Docker runs one.
import { afterAll, beforeAll, describe } from 'vitest'
import { createServerStore } from '../../services/core/store/server/server-store.ts'
import { topics } from '../../services/events/registry.ts'
import { scratchTables } from '../../services/tables/registry.ts'
import { startBridge } from '../fixtures/bridge.ts'
import { startClickHouseContainer } from '../fixtures/clickhouse-container.ts'
import { hasContainers } from '../fixtures/containers.ts'
import { storeContract } from './store.contract.ts'

/** Fewer than the bridge answers at one time. */
const interactiveConnections = 5

type Server = { url: string; user: string; password: string; remove(): Promise<void> }

function onServer(name: string, start: () => Promise<Server>): void {
  describe(name, () => {
    let server: Server
    // The image of a container may have to be fetched first.
    beforeAll(async () => {
      server = await start()
    }, 600_000)
    afterAll(() => server.remove())

    storeContract({
      name: 'server',
      interactiveConnections,
      async open() {
        const { url, user, password } = server
        const limits = { queryTimeoutMs: 30_000, queryMemoryBytes: 2 ** 29, interactiveConnections }
        const store = await createServerStore({
          topics,
          scratch: scratchTables,
          url,
          user,
          password,
          compression: true,
          ...limits,
        })
        await store.migrate()
        return store
      },
    })
  })
}

onServer('bridge', startBridge)
if (await hasContainers()) onServer('container', startClickHouseContainer)
