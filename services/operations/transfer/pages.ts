// Reads a table page by page along its key, as lines of its rows of a few megabytes at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Query, Store } from '../../core/store/store.ts'
import type { ExportedTable } from './exported-tables.ts'

/** Keys that are read at once. */
const keysAtOnce = 20_000
/** Rows and bytes of which lines are made at once; a larger row comes alone. */
const chunkRows = 5_000
const chunkBytes = 8 * 2 ** 20
/** Calls whose payloads may be large, and of which nothing but the id is known. */
const supersededAtOnce = 100
const timeoutMs = 600_000

/** The key of a row as texts, the project first. */
type Key = string[]
type Condition = { sql: string; params: Record<string, unknown> }
export type Chunk = { lines: Buffer; rows: number; withoutPayload: number }

const columnsOf = (source: ExportedTable) => [
  { column: 'project_id', read: 'project_id', type: 'String' },
  ...source.keys,
]

/** Keys beyond a key, or up to it, in the order of the columns; written out, so that the engine's index is used. */
function bound(source: ExportedTable, key: Key, side: 'after' | 'from' | 'upTo', name: string): Condition {
  const columns = columnsOf(source)
  const params: Record<string, unknown> = {}
  const build = (index: number): string => {
    const { column, type, ...rest } = columns[index] as (typeof columns)[number] & ExportedTable['keys'][number]
    const parameter = `{${name}${index}:${type}}`
    const value = rest.bound?.(parameter) ?? parameter
    params[`${name}${index}`] = key[index]
    const strict = side === 'upTo' ? '<' : '>'
    if (index === columns.length - 1) return `${column} ${side === 'after' ? '>' : `${strict}=`} ${value}`
    return `(${column} ${strict} ${value} OR (${column} = ${value} AND ${build(index + 1)}))`
  }
  return { sql: build(0), params }
}

const both = (...parts: (Condition | null)[]): Condition => {
  const given = parts.filter((part) => part !== null)
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND ') || '1',
    params: Object.assign({}, ...given.map(({ params }) => params)),
  }
}

const projectsBetween = (first: string | undefined, last: string | undefined): Condition => ({
  sql: 'project_id >= {p:String} AND project_id <= {q:String}',
  params: { p: first, q: last },
})

/** Line ends, and how many lines begin with the sign of a missing half, which is taken off. */
function countLines(bytes: Buffer): { lines: Buffer; rows: number; withoutPayload: number } {
  let rows = 0
  let withoutPayload = 0
  for (let at = 0; at < bytes.length; rows++) {
    if (bytes[at] === 0x21) withoutPayload++
    const end = bytes.indexOf(10, at)
    at = end === -1 ? bytes.length : end + 1
  }
  if (withoutPayload === 0) return { lines: bytes, rows, withoutPayload }
  const kept: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at) + 1 || bytes.length
    kept.push(bytes.subarray(bytes[at] === 0x21 ? at + 1 : at, end))
    at = end
  }
  return { lines: Buffer.concat(kept), rows, withoutPayload }
}

/** Index behind the keys of which lines are made at once, from `at` on. */
function chunkEnd(found: readonly { bytes: number }[], at: number): number {
  let end = at
  for (let bytes = 0; end < found.length && end - at < chunkRows; end++) {
    bytes += Number(found[end]?.bytes)
    if (bytes > chunkBytes && end > at) break
  }
  return end
}

/** Views do not commit together: what lacks its other half now has it a moment later. */
const attempts = 5
const retryMs = 50

/**
 * @param project null = all projects
 */
export function createPages(store: Pick<Store, 'rows' | 'bytes'>, project: string | null, signal: AbortSignal) {
  const options = { pool: 'export', timeoutMs, signal } as const
  const scope: Condition | null =
    project === null ? null : { sql: 'project_id = {project:String}', params: { project } }

  async function linesOf(source: ExportedTable, range: Condition, projects: Condition): Promise<Chunk> {
    const query: Query = {
      name: `export.${source.table}`,
      sql: `${source.lines(range.sql, projects.sql)} SETTINGS output_format_json_quote_64bit_integers = 0, join_use_nulls = 0`,
      params: { ...range.params, ...projects.params },
    }
    for (let attempt = 1; ; attempt++) {
      const chunk = countLines(await store.bytes(query, 'TSVRaw', options))
      if (chunk.withoutPayload === 0 || attempt === attempts) return chunk
      await sleep(retryMs * attempt, undefined, { signal })
    }
  }

  return {
    /** All lines of a source, in the order of its keys. */
    async *chunks(source: ExportedTable): AsyncGenerator<Chunk> {
      const columns = columnsOf(source)
      let last: Key | null = null
      for (;;) {
        signal.throwIfAborted()
        const only = source.only === undefined ? null : { sql: source.only, params: {} }
        const where = both(scope, last === null ? null : bound(source, last, 'after', 'a'), only)
        const found = await store.rows<{ key: Key; bytes: number }>(
          {
            name: `export.${source.table}.keys`,
            sql: `SELECT [${columns.map(({ read }) => read).join(', ')}] AS key, toFloat64(${source.bytes}) AS bytes
              FROM callhouse.${source.table} FINAL WHERE ${where.sql}
              ORDER BY ${columns.map(({ column }) => column).join(', ')} LIMIT ${keysAtOnce}`,
            params: where.params,
          },
          options,
        )
        for (let at = 0; at < found.length; ) {
          const end = chunkEnd(found, at)
          const [first, final] = [found[at]?.key as Key, found[end - 1]?.key as Key]
          const range = both(scope, bound(source, first, 'from', 'a'), bound(source, final, 'upTo', 'b'))
          yield await linesOf(source, range, projectsBetween(first[0], final[0]))
          at = end
        }
        if (found.length < keysAtOnce) return
        last = found.at(-1)?.key as Key
      }
    },
    /** Lines of the calls that moved to another start time since a clock: a walk along time may have missed them. */
    async *moved(source: ExportedTable, clock: bigint): AsyncGenerator<Chunk> {
      const where = both(scope, { sql: 'start_ver >= {clock:UInt64}', params: { clock } })
      const found = await store.rows<{ project_id: string; id: string }>(
        {
          name: 'export.moved',
          sql: `SELECT DISTINCT project_id, id FROM callhouse.calls FINAL WHERE moved = 1 AND ${where.sql}
            ORDER BY project_id, id`,
          params: where.params,
        },
        options,
      )
      for (let at = 0; at < found.length; at += supersededAtOnce) {
        signal.throwIfAborted()
        const some = found.slice(at, at + supersededAtOnce)
        const projects = projectsBetween(some[0]?.project_id, some.at(-1)?.project_id)
        const range = both(projects, {
          sql: `(project_id, started_at, id) IN
            (SELECT project_id, started_at, key FROM callhouse.call_keys
              WHERE ${projects.sql} AND kind = 'id' AND key IN {ids:Array(String)})`,
          params: { ids: some.map(({ id }) => id) },
        })
        yield await linesOf(source, range, projects)
      }
    },
  }
}
