// The tables of one worker on a server: made before they are needed, kept alive, and removed when their worker is gone.

import type { Query } from '../store.ts'
import { scratchStatements } from './ddl.ts'
import { suffixOf, type WorkerTables } from './names.ts'

export type Scratch = {
  /** Makes the tables if they are not there yet. */
  ensure(): Promise<void>
  /** They were found missing; the next `ensure` makes them again. */
  forget(): void
  close(): Promise<void>
}

const beatEveryMs = 600_000

export function createScratch(options: {
  database: string
  suffix: string
  tables: WorkerTables
  /** Texts of all migrations. */
  migrations: readonly string[]
  /** Tables of other workers that were not touched for so long are removed. */
  goneAfterMs: number
  command(name: string, sql: string): Promise<void>
  rows<T>(query: Query): Promise<T[]>
  onError(error: unknown): void
}): Scratch {
  const { database, suffix, command, rows, onError } = options
  let made: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const drop = async (table: string): Promise<void> => {
    await command('scratch.drop', `DROP TABLE IF EXISTS ${database}.${table} SYNC`)
  }

  /** Tables of workers by suffix, views first, with the time since the newest change to any of them. */
  async function owned(): Promise<Map<string, { tables: string[]; idleSeconds: number }>> {
    const found = await rows<{ name: string; idle: number }>({
      name: 'scratch.list',
      sql: `SELECT name, toInt32(dateDiff('second', metadata_modification_time, now())) AS idle
FROM system.tables WHERE database = {database:String} AND position(name, '_w_') > 0 ORDER BY engine != 'MaterializedView', name`,
      params: { database },
    })
    const owners = new Map<string, { tables: string[]; idleSeconds: number }>()
    for (const { name, idle } of found) {
      const of = suffixOf(name, options.tables)
      if (of === undefined) continue
      const owner = owners.get(of) ?? { tables: [], idleSeconds: idle }
      owner.tables.push(name)
      owner.idleSeconds = Math.min(owner.idleSeconds, idle)
      owners.set(of, owner)
    }
    return owners
  }

  async function removeStale(): Promise<void> {
    for (const [of, { tables, idleSeconds }] of await owned())
      if (of !== suffix && idleSeconds * 1000 > options.goneAfterMs) for (const table of tables) await drop(table)
  }

  /** A changed comment is a change of the table's definition, whose time the server keeps. */
  async function beat(): Promise<void> {
    const at = new Date().toISOString()
    await command(
      'scratch.beat',
      `ALTER TABLE ${database}.${options.tables.scratch[0]}${suffix} MODIFY COMMENT 'in use at ${at}'`,
    )
    await removeStale()
  }

  async function make(): Promise<void> {
    await removeStale().catch(onError)
    for (const sql of scratchStatements(options.migrations, { database, suffix, ...options.tables }))
      await command('scratch.create', sql)
    timer ??= setInterval(() => void beat().catch(onError), beatEveryMs)
    timer.unref()
  }

  return {
    ensure() {
      made ??= make().catch((error: unknown) => {
        made = undefined
        throw error
      })
      return made
    },
    forget() {
      made = undefined
    },
    async close() {
      clearInterval(timer)
      if (made === undefined) return
      await made.catch(() => {})
      for (const table of (await owned()).get(suffix)?.tables ?? []) await drop(table)
    },
  }
}
