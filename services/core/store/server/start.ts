// The first contact with a server: waits until it answers, and makes the database.
import { toStoreError } from '../errors.ts'
import { StoreError, type StoreLogger } from '../store.ts'
import type { ServerClient } from './client.ts'

const everyMs = 500
const statementTimeoutMs = 10_000
/** The name or the password is refused: waiting does not help. */
const refusedLogins = new Set([192, 193, 194, 497, 516])

/**
 * @param options.client without a database, as the one that is to be made may not be there yet
 * @throws StoreError when the server does not answer in time, refuses the user or has no such database and makes none
 */
export async function openDatabase(options: {
  client: ServerClient
  url: string
  database: string
  cluster?: string
  timeoutMs: number
  logger: StoreLogger
}): Promise<void> {
  const { client, url, database, cluster, timeoutMs, logger } = options
  const until = Date.now() + timeoutMs
  const onCluster = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`
  const run = (sql: string) =>
    client.send({ name: 'open', pool: 'control', sql, settings: {}, timeoutMs: statementTimeoutMs })
  const isThere = async () => (await run(`EXISTS DATABASE ${database} FORMAT TSV`)).toString().trim() === '1'

  for (;;) {
    try {
      // A user without the right to make one may work in one that is there.
      if (!(await isThere())) await run(`CREATE DATABASE IF NOT EXISTS ${database}${onCluster}`)
      return
    } catch (error) {
      const failure = toStoreError(error, 'command')
      const where = new StoreError(failure.kind, failure.code, `ClickHouse at ${url}: ${failure.message}`)
      if (failure.kind === 'query' || refusedLogins.has(failure.code) || Date.now() + everyMs > until) throw where
      logger.warn({ error: where.message }, 'waiting for ClickHouse')
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
}
