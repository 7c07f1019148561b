// Watches for data parts that the engine set aside as broken: their rows are missing until they are rebuilt from the log.
import type { Query, StoreHealth } from '../store.ts'

type Detached = { table: string; name: string; reason: string }

export type PartsWatch = {
  /** Looks now. */
  check(): Promise<void>
  /** The result of the last look. */
  health(): StoreHealth
  stop(): void
}

/** Parts that were set aside because others hold their rows, or by an operator. */
const harmless = [
  '',
  'ignored',
  'covered-by-broken',
  'clone',
  'attaching',
  'deleting',
  'tmp-fetch',
  'merge-not-byte-identical',
  'mutate-not-byte-identical',
]

const detached = (database: string): Query => ({
  name: 'parts.detached',
  sql: `SELECT table, name, reason FROM system.detached_parts
WHERE database = {database:String} AND reason NOT IN {harmless:Array(String)} ORDER BY table, name LIMIT 100`,
  params: { database, harmless },
})

export function createPartsWatch(options: {
  database: string
  rows: <T>(query: Query) => Promise<T[]>
  onBroken: (parts: Detached[]) => void
  everyMs: number
}): PartsWatch {
  const query = detached(options.database)
  let health: StoreHealth = { status: 'ok' }

  async function check(): Promise<void> {
    const parts = await options.rows<Detached>(query)
    const names = parts.map((part) => `${part.table}/${part.name} (${part.reason})`)
    const reason = `broken parts: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
    if (parts.length > 0 && health.reason !== reason) options.onBroken(parts)
    health = parts.length === 0 ? { status: 'ok' } : { status: 'degraded', reason }
  }

  const timer = setInterval(() => {
    check().catch((error) => {
      health = {
        status: 'degraded',
        reason: `parts cannot be checked: ${error instanceof Error ? error.message : error}`,
      }
    })
  }, options.everyMs)
  timer.unref()

  return { check, health: () => health, stop: () => clearInterval(timer) }
}
