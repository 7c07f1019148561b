// Rows of calls, log records, feedback and whole projects: removed by key, each place in its turn.
import type { LogKey } from '../events/logs.ts'
import {
  atOnce,
  type Engine,
  find,
  maskedPartitions,
  type Named,
  type Place,
  removeRows,
  rewritePartition,
  slices,
} from './engine.ts'
import { promptsOf } from './held-calls.ts'
import { spanKey } from './kept-log.ts'
import { callPlaces, erasedTables, keptTables, partPlaces, recordPlaces, tracedPlaces } from './places.ts'
import { type DerivedRows, removeValues } from './values.ts'

export type RowRemovalDeps = Engine & DerivedRows

const refOf = (projectId: string, id: string): string => `weave:///${projectId}/call/${id}`

const named = (projectId: string, ids: readonly string[], records: Iterable<string> = []) => ({
  ids,
  refs: ids.map((id) => refOf(projectId, id)),
  records: [...records],
})

/** Removes rows of a project in one place. @returns how many */
async function remove(engine: Engine, place: Place, projectId: string, params: Named): Promise<number> {
  const counts = await removeRows(engine, place, [projectId], { project: projectId, ...params })
  return [...counts.values()].reduce((sum, n) => sum + n, 0)
}

/** Log records that some calls are, with the ids of these. */
async function recordsOf(engine: Engine, projectId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const own = await find<{ id: string }>(engine, 'erasure.logs-of-calls', { project: projectId, ids })
  const found = await promptsOf(engine, projectId, new Set(ids))
  for (const { id } of own) found.set(id, id)
  return found
}

function countsOf(ids: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/**
 * Removes everything of some calls but their indexed values and the rows by which they are found.
 * @returns numbers of removed rows by call; calls by their spans, as `spanKey` names them; traces; and times at which
 * payloads of theirs may have been, in microseconds
 */
async function removeParts(engine: Engine, projectId: string, ids: readonly string[]) {
  const params = { project: projectId, ids }
  const calls = await find<{ trace_id: string; id: string; times: number[] }>(engine, 'erasure.traces', params)
  const payloads = await find<{ id: string; us: string }>(engine, 'erasure.payloads', params)
  const records = await recordsOf(engine, projectId, ids)
  const all = named(projectId, ids, records.keys())
  const about = { project: projectId, refs: all.refs }
  const feedback = await find<{ weave_ref: string; n: string }>(engine, 'erasure.feedback', about)
  for (const place of partPlaces) await remove(engine, place, projectId, all)
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
}

/** Removes the rows in `calls` and the parts in `call_patches`: last, as deleted calls are found by them. */
async function removeCalls(engine: Engine, projectId: string, ids: readonly string[]): Promise<void> {
  for (const some of slices(ids))
    for (const place of callPlaces) await remove(engine, place, projectId, named(projectId, some))
}

/** Removes log records. @param keys in the order of their times */
async function removeLogs(engine: Engine, projectId: string, keys: readonly LogKey[]): Promise<void> {
  for (const some of slices(keys)) {
    const [least, most] = [some[0]?.at ?? '0', some.at(-1)?.at ?? '0']
    const ids = some.map(({ id }) => id)
    for (const place of recordPlaces) await remove(engine, place, projectId, { ids, least, most })
  }
}

/** Removes rows of items of feedback up to an accept timestamp of each. @returns their own by id */
async function removePurged(engine: Engine, projectId: string, purged: ReadonlyMap<string, bigint>) {
  const removed = new Map<string, bigint>()
  const where = "id IN {ids:Array(String)} AND purged = 0 AND concat(id, ' ', toString(clock)) IN {rows:Array(String)}"
  for (const ids of slices([...purged.keys()])) {
    const rows = await find<{ id: string; clock: string }>(engine, 'erasure.purged', { project: projectId, ids })
    const gone = rows.filter(({ id, clock }) => BigInt(clock) <= (purged.get(id) ?? 0n))
    if (gone.length === 0) continue
    await remove(engine, { table: 'feedback', where }, projectId, {
      ids: gone.map(({ id }) => id),
      rows: gone.map(({ id, clock }) => `${id} ${clock}`),
    })
    for (const { id, clock } of gone) removed.set(id, BigInt(clock))
  }
  return removed
}

/** Finds stored rows of calls that were deleted up to an accept timestamp, and whose own rows are gone. */
async function findStrays(engine: Engine, projectId: string, untilVer: bigint) {
  const tables: string[] = []
  const ids = new Set<string>()
  const params = { project: projectId, until: String(untilVer), limit: atOnce }
  for (const { table, id, where } of tracedPlaces) {
    const rows = await find<{ id: string }>(engine, 'erasure.strays', params, { table, id, where })
    if (rows.length > 0) tables.push(table)
    for (const row of rows) ids.add(row.id)
  }
  return { tables, ids: [...ids].slice(0, atOnce) }
}

/** Every table with rows of projects. */
async function projectTables(engine: Engine): Promise<string[]> {
  const found = await find<{ name: string }>(engine, 'erasure.tables', { kept: keptTables })
  return found.map(({ name }) => name)
}

/** Finds tables with rows of projects that were removed. @param inFiles also rows that are removed and still in a file */
async function tablesWith(engine: Engine, projects: readonly string[], inFiles: boolean) {
  const found = new Map<string, string[]>()
  if (projects.length === 0) return found
  for (const table of await projectTables(engine)) {
    const parts = { table, mask: inFiles ? '0' : '1' }
    const rows = await find<{ project_id: string }>(engine, 'erasure.of-removed', { projects }, parts)
    for (const { project_id } of rows) found.set(project_id, [...(found.get(project_id) ?? []), table])
  }
  return found
}

/** Removes everything of a project, in whichever table. @returns rows by table */
async function removeProject(deps: RowRemovalDeps, projectId: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const tables = (await tablesWith(deps, [projectId], false)).get(projectId) ?? []
  await deps.betweenDerivations(async () => {
    for (const table of tables) counts.set(table, await remove(deps, { table, where: '1' }, projectId, {}))
  })
  return counts
}

/** Rows of projects, as removals find and remove them. `isWhole`: in all tables with rows of projects. */
export function createRowRemoval(deps: RowRemovalDeps) {
  const tablesOf = async (isWhole: boolean) => (isWhole ? await projectTables(deps) : erasedTables)
  return {
    remove: (place: Place, projectId: string, params: Named) => remove(deps, place, projectId, params),
    recordsOf: (projectId: string, ids: readonly string[]) => recordsOf(deps, projectId, ids),
    removeParts: (projectId: string, ids: readonly string[]) => removeParts(deps, projectId, ids),
    removeValues: (erased: ReadonlyMap<string, ReadonlySet<number>>) => removeValues(deps, erased),
    removeCalls: (projectId: string, ids: readonly string[]) => removeCalls(deps, projectId, ids),
    removeLogs: (projectId: string, keys: readonly LogKey[]) => removeLogs(deps, projectId, keys),
    removePurged: (projectId: string, purged: ReadonlyMap<string, bigint>) => removePurged(deps, projectId, purged),
    strays: (projectId: string, untilVer: bigint) => findStrays(deps, projectId, untilVer),
    tablesWith: (projects: readonly string[], inFiles = false) => tablesWith(deps, projects, inFiles),
    removeProject: (projectId: string) => removeProject(deps, projectId),
    async rewriteFiles(isWhole: boolean): Promise<void> {
      for (const one of await maskedPartitions(deps, await tablesOf(isWhole))) await rewritePartition(deps, one)
    },
    /** The time before which no file with removed rows is left. */
    async filesGoneBefore(isWhole: boolean): Promise<number> {
      const [row] = await find<{ before: string }>(deps, 'erasure.files', { tables: await tablesOf(isWhole) })
      return row === undefined ? Number.POSITIVE_INFINITY : Number(row.before)
    },
  }
}

export type RowRemoval = ReturnType<typeof createRowRemoval>
