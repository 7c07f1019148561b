// Takes calls out of the tables for good: rows of some calls by key, then the bytes of removed rows out of the files.
import type { Query, Store } from '../../core/store/store.ts'
import type { Budget } from '../cleanup/budget.ts'
import { statement } from '../statements.ts'
import { createValueRemoval, type DerivedRows, indexedTables, type ValueRemoval } from './remove-values.ts'
import { spanKey } from './rewrite-log.ts'

/** Calls of one project whose rows one statement names. */
export const callsAtOnce = 5_000

/** Values that the condition of a place names. */
type Named = Record<string, readonly (string | number)[]>
type Place = { table: string; where: string }

const byId = 'id IN {ids:Array(String)}'
/** A span id is one within its trace alone. */
const ofSpan = `(trace_id IN {traces:Array(String)} AND concat(trace_id, ' ', span_id) IN {spans:Array(String)}) OR ${byId}`
const places: readonly Place[] = [
  { table: 'payloads', where: byId },
  { table: 'call_keys', where: "kind = 'id' AND key IN {ids:Array(String)}" },
  { table: 'turns', where: byId },
  { table: 'feedback', where: 'weave_ref IN {refs:Array(String)}' },
  { table: 'feedback_by_ref', where: 'weave_ref IN {refs:Array(String)}' },
  { table: 'annotation_queue_items', where: 'call_id IN {ids:Array(String)}' },
  { table: 'annotation_queue_progress', where: 'call_id IN {ids:Array(String)}' },
  { table: 'logs', where: ofSpan },
  { table: 'logs_by_span', where: ofSpan },
]
/**
 * By these rows deleted calls are found: an end that came again may be all there is of one. Deletes stay: a part that comes
 * again belongs to a deleted call.
 */
const findable: readonly Place[] = [
  { table: 'call_patches', where: `${byId} AND kind != 'delete'` },
  { table: 'calls', where: byId },
]

/** By which column a row of a table belongs to a call, removed rows included: where it tells of no other. */
const traced: readonly { table: string; id: string; where?: string }[] = [
  { table: 'payloads', id: 'payloads.id' },
  { table: 'call_keys', id: 'call_keys.key', where: "kind = 'id'" },
  { table: 'turns', id: 'turns.id' },
  {
    table: 'feedback',
    id: `substring(weave_ref, length({project:String}) + ${'weave:////call/'.length + 1})`,
    where: `startsWith(weave_ref, concat('weave:///', {project:String}, '/call/')) AND clock <= {until:UInt64}`,
  },
  { table: 'annotation_queue_items', id: 'annotation_queue_items.call_id', where: 'clock <= {until:UInt64}' },
  { table: 'annotation_queue_progress', id: 'annotation_queue_progress.call_id', where: 'clock <= {until:UInt64}' },
  { table: 'calls', id: 'calls.id' },
  { table: 'call_patches', id: 'call_patches.id', where: "kind != 'delete'" },
]

/** Files that calls name, and objects that were made of their texts. */
const fileTables = ['files', 'objects', 'object_events']

/** Tables whose files may hold what was removed. */
export const erasedTables = [...[...places, ...findable].map(({ table }) => table), ...indexedTables, ...fileTables]

/** What is told of projects, not by them: it outlasts them. */
const keptTables = ['erasures', 'usage_minutes']

const refOf = (projectId: string, id: string): string => `weave:///${projectId}/call/${id}`

const aside = { background: true } as const
const background = { pool: 'background', timeoutMs: 600_000 } as const

export type RowRemovalDeps = DerivedRows & { store: Pick<Store, 'rows' | 'command'>; budget: Budget }

export type RowRemoval = {
  /** Rows of a project in one place. @returns how many */
  remove(place: Place, projectId: string, named: Named): Promise<number>
  /**
   * Everything of some calls but their indexed values and the rows by which they are found.
   * @returns how many of what each call had, and times at which payloads of theirs may have been, in microseconds
   */
  removeParts(
    projectId: string,
    ids: readonly string[],
  ): Promise<{ feedback: Map<string, number>; payloads: Map<string, number>; spans: string[]; times: number[] }>
  /** What the field index has of payloads that were removed. */
  removeValues: ValueRemoval
  /** Rows of items of feedback up to an accept timestamp of each. @returns their own by id */
  removePurged(projectId: string, purged: ReadonlyMap<string, bigint>): Promise<Map<string, bigint>>
  /** What is stored of calls that were deleted up to an accept timestamp, and whose own rows are gone. */
  strays(projectId: string, untilVer: bigint): Promise<{ tables: string[]; ids: string[] }>
  /** The rows in `calls` and the parts in `call_patches`, last. */
  removeCalls(projectId: string, ids: readonly string[]): Promise<void>
  /** Tables with rows of projects that were removed. @param inFiles also rows that are removed and still in a file */
  tablesWith(projectIds: readonly string[], inFiles?: boolean): Promise<Map<string, string[]>>
  /** Everything of a project, in whichever table. @returns rows by table */
  removeProject(projectId: string): Promise<ReadonlyMap<string, number>>
  /** Rewrites the files that hold removed rows. @param isWhole also of tables that hold none of calls */
  rewriteFiles(isWhole: boolean): Promise<void>
  /** Files that were replaced up to a time and are still there, and those from before it that hold removed rows. */
  filesLeft(untilMs: number, isWhole: boolean): Promise<number>
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

  const named = (projectId: string, ids: readonly string[], of: readonly { trace_id: string; id: string }[] = []) => ({
    ids,
    refs: ids.map((id) => refOf(projectId, id)),
    traces: [...new Set(of.map(({ trace_id }) => trace_id))],
    spans: of.map(({ trace_id, id }) => spanKey(trace_id, id)),
  })

  return {
    remove,
    removeValues: createValueRemoval({ read, change, betweenDerivations, recount }),
    async removeParts(projectId, ids) {
      const params = { project: projectId, ids }
      const calls = await read<{ trace_id: string; id: string; times: number[] }>(statement('erasure.traces', params))
      const payloads = await read<{ id: string; us: string }>(statement('erasure.payloads', params))
      const all = named(
        projectId,
        ids,
        calls.filter(({ trace_id }) => trace_id !== ''),
      )
      const feedback = await read<{ weave_ref: string; n: string }>(
        statement('erasure.feedback', { project: projectId, refs: all.refs }),
      )
      for (const place of places) await remove(place, projectId, all)
      const counts = new Map<string, number>()
      for (const { id } of payloads) counts.set(id, (counts.get(id) ?? 0) + 1)
      const idOf = (ref: string) => ref.slice(refOf(projectId, '').length)
      return {
        feedback: new Map(feedback.map(({ weave_ref, n }) => [idOf(weave_ref), Number(n)])),
        payloads: counts,
        spans: all.spans,
        times: [...payloads.map(({ us }) => Number(us)), ...calls.flatMap(({ times }) => times)],
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
      for (const { table, id, where = '1' } of traced) {
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
    async filesLeft(untilMs, isWhole) {
      const [row] = await read<{ n: string }>(
        statement('erasure.files', {
          tables: isWhole ? await projectTables() : erasedTables,
          from: Math.floor(untilMs / 1_000),
          until: Math.ceil(untilMs / 1_000),
        }),
      )
      return Number(row?.n ?? 0)
    },
  }
}
