// An installation of separate roles over Kafka and a ClickHouse server, for the benchmarks of workers.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bridge, startBridge } from '../../test/fixtures/bridge.ts'
import { type BenchServer, startServer } from './process.ts'

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))

export const unique = (): string => `bench-${randomBytes(6).toString('hex')}`

export const overKafka = (broker: string, name: string): Record<string, string> => ({
  CALLHOUSE_KAFKA_BROKERS: broker,
  CALLHOUSE_KAFKA_TOPIC_PREFIX: `${name}.`,
  CALLHOUSE_KAFKA_GROUP: name,
})

export const start = (role: string, dir: string, env: Record<string, string>): Promise<BenchServer> =>
  startServer(main, [role], {
    CALLHOUSE_PORT: '0',
    CALLHOUSE_DATA_DIR: dir,
    CALLHOUSE_KEYS: 'bench:bench-key',
    CALLHOUSE_LOG_LEVEL: 'warn',
    ...env,
  })

export type Roles = {
  ingest: BenchServer
  applying: BenchServer[]
  query: BenchServer
  /** The ClickHouse server: its engine runs in a process of its own. */
  bridge: Bridge
  remove(): Promise<void>
}

/** Starts one `ingest`, so many `worker` and one `query`. */
export async function startRoles(workers: number, broker: string, dir: string): Promise<Roles> {
  const name = unique()
  const bridge = await startBridge()
  const servers: BenchServer[] = []
  const remove = async (): Promise<void> => {
    for (const server of servers.toReversed()) await server.stop()
    await bridge.remove()
  }
  const env = {
    ...overKafka(broker, name),
    CALLHOUSE_CLICKHOUSE_URL: bridge.url,
    CALLHOUSE_CLICKHOUSE_USER: bridge.user,
    CALLHOUSE_CLICKHOUSE_PASSWORD: bridge.password,
  }
  const add = async (role: string, more: Record<string, string> = {}): Promise<BenchServer> => {
    const server = await start(role, join(dir, `${name}-${servers.length}`), { ...env, ...more })
    servers.push(server)
    return server
  }
  try {
    const ingest = await add('ingest')
    const applying: BenchServer[] = []
    for (let n = 0; n < workers; n++) applying.push(await add('worker', { CALLHOUSE_WORKER_ID: `${name}-${n}` }))
    return { ingest, applying, query: await add('query'), bridge, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
