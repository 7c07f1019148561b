// The names of tables on a server: the installation's own database, scratch tables of one worker, and in a cluster the
// tables that read every shard.
import { createHash, randomBytes } from 'node:crypto'
import { sqlSpans } from '../sql-text.ts'

/** Between the name of a scratch table and the worker that it belongs to. */
const owner = '_w_'

/** Tables in which the rows of a batch wait until they are counted. */
export const stageOf = (landing: string): string => `${landing}_stage`

/** Tables in a cluster that read all shards. */
export const allShards = (table: string): string => `${table}_all`

/**
 * Suffix of the scratch tables of one process. Random, because a worker that hangs may still be there when the next one
 * of its name starts, and two must never share a table.
 */
export function ownerSuffix(worker: string): string {
  const plain = worker.toLowerCase().replace(/[^a-z0-9]+/g, '_')
  const name = plain.length <= 40 ? plain : createHash('sha256').update(worker).digest('hex').slice(0, 16)
  return `${owner}${name}_${randomBytes(4).toString('hex')}`
}

/** Tables that each worker has of its own: the stages of landing tables, and what holds the batch that it applies. */
export type WorkerTables = {
  landings: readonly string[]
  /** Scratch tables of the migrations, tables before views (docs/adr/0002). */
  scratch: readonly string[]
}

/** The suffix of a table of any worker; undefined for every other table. */
export function suffixOf(table: string, { landings, scratch }: WorkerTables): string | undefined {
  const base = [...scratch, ...landings.map(stageOf)].find((name) => table.startsWith(`${name}${owner}`))
  return base === undefined ? undefined : table.slice(base.length)
}

const qualified = /\bcallhouse\.(\w*)/g

/** Names of the program's tables in a statement: `callhouse.<table>`, in code only. */
const tablesOf = (sql: string): string[] =>
  sqlSpans(sql).flatMap(({ kind, text }) =>
    kind === 'code' ? [...text.matchAll(qualified)].map((match) => match[1] as string) : [],
  )

/** Puts other names in the places of `callhouse.<table>`; text in quotes and comments stays. */
export const renamed = (sql: string, nameOf: (table: string) => string): string =>
  sqlSpans(sql)
    .map(({ kind, text }) => (kind === 'code' ? text.replace(qualified, (_, table: string) => nameOf(table)) : text))
    .join('')

export type ServerNames = {
  /** A statement of the program in the names of this installation and this worker. */
  own(sql: string): string
  /** The same for a read, which in a cluster sees every shard; scratch tables are read where they are. */
  reading(sql: string): string
  /** Whether the statement uses tables of this worker. */
  usesScratch(sql: string): boolean
}

/** @param spread tables that exist on every shard, each with a table that reads them all; empty without a cluster */
export function createServerNames(options: {
  database: string
  suffix: string
  spread: ReadonlySet<string>
  scratch: readonly string[]
}): ServerNames {
  const { database, suffix, spread, scratch } = options
  const isScratch = (table: string): boolean => scratch.includes(table)
  const own = (table: string): string => `${database}.${isScratch(table) ? `${table}${suffix}` : table}`
  const usesScratch = (sql: string): boolean => tablesOf(sql).some(isScratch)
  return {
    own: (sql) => renamed(sql, own),
    reading: (sql) =>
      spread.size === 0 || usesScratch(sql)
        ? renamed(sql, own)
        : renamed(sql, (table) => `${database}.${spread.has(table) ? allShards(table) : table}`),
    usesScratch,
  }
}
