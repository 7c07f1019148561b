// State of an unfinished rebuild and which process works at it: a file of the data folder, or a table of a server.
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../core/store/store.ts'
import { onCluster, type SharedServer, shadowDatabaseOf, stateTable } from './shadow-tables.ts'

/** The state that survives a kill. */
export type RebuildState = {
  table: string
  /** Id of the log's calls, when it was begun: positions of another log mean other records. */
  log?: string
  /**
   * The last record of each partition of the log that is in the new table; or the time (us) before which all is done.
   */
  cursor: number[]
  rows: number
  startedAt: string
  notes: string[]
  /** Identities of the new tables; they tell whether the exchange was done. Absent until all tables are made. */
  made?: Record<string, string>
}

export type StateKeeper = {
  /** Keeps other processes from working at a rebuild. @throws Error when one does */
  claim(): Promise<void>
  release(): Promise<void>
  load(): Promise<RebuildState | undefined>
  /** @throws Error when another process has taken the rebuild over */
  save(state: RebuildState): Promise<void>
  /** Called when the rebuild and its tables are gone. */
  clear(): Promise<void>
}

/** The data folder has one server, which does one rebuild at a time. */
export function createStateFile(path: string): StateKeeper {
  return {
    claim: async () => {},
    release: async () => {},
    async load() {
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as RebuildState
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async save(state) {
      await mkdir(dirname(path), { recursive: true })
      const file = await open(`${path}.new`, 'w')
      try {
        await file.writeFile(JSON.stringify(state))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${path}.new`, path)
    },
    clear: async () => rmSync(path, { force: true }),
  }
}

/** Signs of a process: it works, it has ended, another process found it silent for too long. */
const signs = { ended: 0, works: 1, buried: 2 } as const
/** Interval of signs of life, and how long a process may be silent. */
const beatMs = 2_000
const goneMs = 10_000
const aside = { background: true }

/**
 * A table beside the new tables, dropped with them. Each row is a sign of life of one process, some with a state; of the
 * processes that are alive the one that came first works, by the server's clock.
 */
export function createStateTable(store: Pick<Store, 'rows' | 'command'>, server: SharedServer): StateKeeper {
  const database = shadowDatabaseOf(server)
  const table = `${database}.${stateTable}`
  const owner = randomUUID()
  let beating: NodeJS.Timeout | undefined

  const run = (name: string, sql: string, params: Record<string, unknown> = {}) =>
    store.command({ name: `rebuild.${name}`, sql, params }, aside)
  const writeSign = (of: string, sign: keyof typeof signs, state = '') =>
    run('state', `INSERT INTO ${table} (owner, sign, state) SELECT {owner:String}, {sign:UInt8}, {state:String}`, {
      owner: of,
      sign: signs[sign],
      state,
    })
  const exists = async (): Promise<boolean> => {
    const sql = 'SELECT name FROM system.tables WHERE database = {database:String} AND name = {table:String}'
    return (await store.rows({ name: 'rebuild.state', sql, params: { database, table: stateTable } })).length > 0
  }
  /** Last sign of the process that came before this one and is not known to have ended. */
  const before = async (): Promise<string | undefined> => {
    const rows = await store.rows<{ owner: string; last: string }>({
      name: 'rebuild.owners',
      sql: `SELECT owner, toString(max(at)) AS last FROM ${table}
        GROUP BY owner HAVING argMax(sign, at) = {works:UInt8} AND max(sign) < {buried:UInt8}
        ORDER BY min(at), owner LIMIT 1`,
      params: signs,
    })
    const [first] = rows
    return first === undefined || first.owner === owner ? undefined : `${first.owner} ${first.last}`
  }
  /** One that only slept must not go on beside its successor. */
  const refuseBuried = async (): Promise<void> => {
    const sql = `SELECT 1 AS n FROM ${table} WHERE owner = {owner:String} AND sign = {buried:UInt8}`
    const rows = await store.rows({ name: 'rebuild.buried', sql, params: { owner, ...signs } })
    if (rows.length > 0) throw new Error('another process has taken the rebuild over')
  }

  return {
    async claim() {
      const engine = server.cluster === undefined ? 'MergeTree' : 'ReplicatedMergeTree'
      await run('state', `CREATE DATABASE IF NOT EXISTS ${database}${onCluster(server)} ENGINE = Atomic`)
      await run(
        'state',
        `CREATE TABLE IF NOT EXISTS ${table}${onCluster(server)}
          (at DateTime64(6) DEFAULT now64(6), owner String, sign UInt8, state String) ENGINE = ${engine} ORDER BY at`,
      )
      await writeSign(owner, 'works')
      beating = setInterval(() => void writeSign(owner, 'works').catch(() => undefined), beatMs)
      beating.unref()
      for (let sign = await before(), sinceMs = Date.now(); sign !== undefined; ) {
        await sleep(200)
        const next = await before()
        if (next?.split(' ')[0] !== sign.split(' ')[0]) sinceMs = Date.now()
        else if (next !== sign) {
          await this.release()
          throw new Error('another process works at a rebuild; there is one at a time')
        } else if (Date.now() - sinceMs > goneMs) await writeSign(sign.split(' ')[0] as string, 'buried')
        sign = next
      }
    },
    async release() {
      clearInterval(beating)
      await writeSign(owner, 'ended').catch(() => undefined)
    },
    async load() {
      if (!(await exists())) return undefined
      const sql = `SELECT state FROM ${table} WHERE state != '' ORDER BY at DESC LIMIT 1`
      const [row] = await store.rows<{ state: string }>({ name: 'rebuild.state', sql, params: {} })
      return row && (JSON.parse(row.state) as RebuildState)
    },
    async save(state) {
      await refuseBuried()
      await writeSign(owner, 'works', JSON.stringify(state))
    },
    async clear() {
      clearInterval(beating)
    },
  }
}
