// Takes calls out of the tables for good: rows of some calls by key, then the bytes of removed rows out of the files.

import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import type { LogKey } from '../events/logs.ts'
import type { Erasable } from '../tables/declaration.ts'
import { tables, tablesOfKind } from '../tables/registry.ts'
import { promptsOf } from './held-calls.ts'
import { createValueRemoval, type DerivedRows, type ValueRemoval } from './remove-values.ts'
import { spanKey } from './rewrite-log.ts'

/** Calls of one project whose rows one statement names. */
export const callsAtOnce = 5_000

/** Values that the condition of a place names. */
type Named = Record<string, readonly (string | number)[] | string>
type Place = { table: string; where: string }

const idIn = (column: string): string => `${column} IN {ids:Array(String)}`
const byId = idIn('id')
const byTime = `at >= fromUnixTimestamp64Nano({least:Int64}, 'UTC') AND at <= fromUnixTimestamp64Nano({most:Int64}, 'UTC')`

const erasable = tables.flatMap(({ name, erased }) => (erased ? [{ table: name, erased }] : []))

/** Condition on rows of a table that belong to erased calls. */
function ofCalls(erased: Erasable): string | undefined {
  if ('call' in erased) return idIn(erased.call) + (erased.where ? ` AND ${erased.where}` : '')
  if ('ref' in erased) return `${erased.ref} IN {refs:Array(String)}`
  return 'record' in erased && erased.isCall ? `${erased.record} IN {records:Array(String)}` : undefined
}

/** Condition on rows of a table that belong to erased log records. */
function ofRecords(erased: Erasable): string | undefined {
  if (!('record' in erased)) return undefined
  return (erased.byTime ? `${byTime} AND ` : '') + idIn(erased.record)
}

const placesBy = (of: (erased: Erasable) => string | undefined): Place[] =>
  erasable.flatMap(({ table, erased }) => {
    const where = of(erased)
    return where === undefined ? [] : [{ table, where }]
  })

/**
 * By the rows of these tables deleted calls are found: an end that came again may be all there is of one. Deletes stay: a part
 * that comes again belongs to a deleted call.
 */
const finding = tablesOfKind('call')
const findable = placesBy(ofCalls).filter(({ table }) => finding.includes(table))
const places = placesBy(ofCalls).filter(({ table }) => !finding.includes(table))
/** By the last two deleted records are found. */
const recordPlaces = placesBy(ofRecords)

/** By which column a row of a table belongs to a call, removed rows included: where it tells of no other. */
const traced = erasable.flatMap(({ table, erased }) => {
  const until = 'clock <= {until:UInt64}'
  if ('call' in erased) {
    const { call, where, isLater } = erased
    return [{ table, id: `${table}.${call}`, where: [where, isLater && until].filter(Boolean).join(' AND ') || '1' }]
  }
  if (!('ref' in erased && erased.isLater)) return []
  const id = `substring(${erased.ref}, length({project:String}) + ${'weave:////call/'.length + 1})`
  return [
    { table, id, where: `startsWith(${erased.ref}, concat('weave:///', {project:String}, '/call/')) AND ${until}` },
  ]
})

/** Tables whose files may hold what was removed. */
export const erasedTables = erasable.map(({ table }) => table)

/** Tables with records about projects, which outlast them. */
const keptTables = tables.filter(({ outlastsProject }) => outlastsProject).map(({ name }) => name)

const refOf = (projectId: string, id: string): string => `weave:///${projectId}/call/${id}`

const aside = { background: true } as const
const background = { pool: 'background', timeoutMs: 600_000 } as const

export type RowRemovalDeps = DerivedRows & { store: Pick<Store, 'rows' | 'command'>; budget: Budget }

type RemovedParts = {
  /** Numbers of removed rows by call. */
  feedback: Map<string, number>
  payloads: Map<string, number>
  logs: Map<string, number>
  /** Calls by their spans, as `spanKey` names them. */
  spans: Map<string, string>
  traces: string[]
  times: number[]
}

export type RowRemoval = {
  /** Rows of a project in one place. @returns how many */
  remove(place: Place, projectId: string, named: Named): Promise<number>
  /**
   * Everything of some calls but their indexed values and the rows by which they are found.
   * @returns besides, times at which payloads of theirs may have been, in microseconds
   */
  removeParts(projectId: string, ids: readonly string[]): Promise<RemovedParts>
  /** Log records that some calls are, with the ids of these. */
  recordsOf(projectId: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Log records, in the order of their times. */
  removeLogs(projectId: string, keys: readonly LogKey[]): Promise<void>
  /** Removal of indexed values of removed payloads. */
  removeValues: ValueRemoval
  /** Rows of items of feedback up to an accept timestamp of each. @returns their own by id */
  removePurged(projectId: string, purged: ReadonlyMap<string, bigint>): Promise<Map<string, bigint>>
  /** Stored rows of calls that were deleted up to an accept timestamp, and whose own rows are gone. */
  strays(projectId: string, untilVer: bigint): Promise<{ tables: string[]; ids: string[] }>
  /** The rows in `calls` and the parts in `call_patches`, last. */
  removeCalls(projectId: string, ids: readonly string[]): Promise<void>
  /** Tables with rows of projects that were removed. @param inFiles also rows that are removed and still in a file */
  tablesWith(projectIds: readonly string[], inFiles?: boolean): Promise<Map<string, string[]>>
  /** Everything of a project, in whichever table. @returns rows by table */
  removeProject(projectId: string): Promise<ReadonlyMap<string, number>>
  /** Rewrites the files that hold removed rows. @param isWhole also of tables that hold none of calls */
  rewriteFiles(isWhole: boolean): Promise<void>
  /** The time before which no file with removed rows is left. @param isWhole also of tables that hold none of calls */
  filesGoneBefore(isWhole: boolean): Promise<number>
}

export function createRowRemoval({ store, budget, betweenDerivations, recount }: RowRemovalDeps): RowRemoval {
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))
  const change = (query: Query): Promise<void> => budget.run(() => store.command(query, aside))

  /** Every table with rows of projects. */
  const projectTables = async (): Promise<string[]> => {
    const found = await read<{ name: string }>(statement('erasure.tables', { kept: keptTables }))
    return found.map(({ name }) => name)
  }

  async function tablesWith(projectIds: readonly string[], inFiles = false): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>()
    if (projectIds.length === 0) return found
    for (const table of await projectTables()) {
      const rows = await read<{ project_id: string }>(
        statement('erasure.of-removed', { projects: projectIds }, { table, mask: inFiles ? '0' : '1' }),
      )
      for (const { project_id } of rows) found.set(project_id, [...(found.get(project_id) ?? []), table])
    }
    return found
  }

  /** Removes rows month by month: files of others are not touched. @returns how many */
  async function remove({ table, where }: Place, projectId: string, named: Named): Promise<number> {
    const params = { project: projectId, ...named }
    const months = await read<{ month: string; n: string }>(statement('erasure.months', params, { table, where }))
    for (const { month } of months) await change(statement('erasure.rows', params, { table, month, where }))
    return months.reduce((sum, { n }) => sum + Number(n), 0)
  }

  const named = (projectId: string, ids: readonly string[], records: readonly string[] = []) => ({
    ids,
    refs: ids.map((id) => refOf(projectId, id)),
    records,
  })

  /** Log records that are calls of their own, by their ids. */
  async function recordsOf(projectId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const own = await read<{ id: string }>(statement('erasure.logs-of-calls', { project: projectId, ids }))
    const found = await budget.run(() => promptsOf(store, projectId, new Set(ids)))
    for (const { id } of own) found.set(id, id)
    return found
  }

  return {
    remove,
    recordsOf,
    removeValues: createValueRemoval({ read, change, betweenDerivations, recount }),
    async removeParts(projectId, ids) {
      const params = { project: projectId, ids }
      const calls = await read<{ trace_id: string; id: string; times: number[] }>(statement('erasure.traces', params))
      const payloads = await read<{ id: string; us: string }>(statement('erasure.payloads', params))
      const records = await recordsOf(projectId, ids)
      const all = named(projectId, ids, [...records.keys()])
      const feedback = await read<{ weave_ref: string; n: string }>(
        statement('erasure.feedback', { project: projectId, refs: all.refs }),
      )
      for (const place of places) await remove(place, projectId, all)
      const countsOf = (ids: Iterable<string>): Map<string, number> => {
        const counts = new Map<string, number>()
        for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
        return counts
      }
      const traced = calls.filter(({ trace_id }) => trace_id !== '')
      const idOf = (ref: string) => ref.slice(refOf(projectId, '').length)
      return {
        feedback: new Map(feedback.map(({ weave_ref, n }) => [idOf(weave_ref), Number(n)])),
        payloads: countsOf(payloads.map(({ id }) => id)),
        logs: countsOf(records.values()),
        spans: new Map(traced.map(({ trace_id, id }) => [spanKey(trace_id, id), id])),
        traces: [...new Set(traced.map(({ trace_id }) => trace_id))],
        times: [...payloads.map(({ us }) => Number(us)), ...calls.flatMap(({ times }) => times)],
      }
    },
    async removeLogs(projectId, keys) {
      for (let i = 0; i < keys.length; i += callsAtOnce) {
        const some = keys.slice(i, i + callsAtOnce)
        const [least, most] = [some[0]?.at ?? '0', some.at(-1)?.at ?? '0']
        const ids = some.map(({ id }) => id)
        for (const place of recordPlaces) await remove(place, projectId, { ids, least, most })
      }
    },
    async removePurged(projectId, purged) {
      const removed = new Map<string, bigint>()
      const ids = [...purged.keys()]
      for (let i = 0; i < ids.length; i += callsAtOnce) {
        const some = ids.slice(i, i + callsAtOnce)
        const rows = await read<{ id: string; clock: string }>(
          statement('erasure.purged', { project: projectId, ids: some }),
        )
        const gone = rows.filter(({ id, clock }) => BigInt(clock) <= (purged.get(id) ?? 0n))
        if (gone.length === 0) continue
        const where = `${byId} AND purged = 0 AND concat(id, ' ', toString(clock)) IN {rows:Array(String)}`
        await remove({ table: 'feedback', where }, projectId, {
          ids: gone.map(({ id }) => id),
          rows: gone.map(({ id, clock }) => `${id} ${clock}`),
        })
        for (const { id, clock } of gone) removed.set(id, BigInt(clock))
      }
      return removed
    },
    async strays(projectId, untilVer) {
      const tables: string[] = []
      const ids = new Set<string>()
      const params = { project: projectId, until: String(untilVer), limit: callsAtOnce }
      for (const { table, id, where } of traced) {
        const rows = await read<{ id: string }>(statement('erasure.strays', params, { table, id, where }))
        if (rows.length > 0) tables.push(table)
        for (const row of rows) ids.add(row.id)
      }
      return { tables, ids: [...ids].slice(0, callsAtOnce) }
    },
    async removeCalls(projectId, ids) {
      for (const place of findable) await remove(place, projectId, named(projectId, ids))
    },
    tablesWith,
    async removeProject(projectId) {
      const counts = new Map<string, number>()
      const tables = (await tablesWith([projectId])).get(projectId) ?? []
      await betweenDerivations(async () => {
        for (const table of tables) counts.set(table, await remove({ table, where: '1' }, projectId, {}))
      })
      return counts
    },
    async rewriteFiles(isWhole) {
      const found = await read<{ table: string; month: string }>(
        statement('erasure.removed', { tables: isWhole ? await projectTables() : erasedTables }),
      )
      for (const { table, month } of found) await change(statement('erasure.rewrite', {}, { table, month }))
    },
    async filesGoneBefore(isWhole) {
      const tables = isWhole ? await projectTables() : erasedTables
      const [row] = await read<{ before: string }>(statement('erasure.files', { tables }))
      return row === undefined ? Number.POSITIVE_INFINITY : Number(row.before)
    },
  }
}
