// Finds the remaining work of erasures in the tables: no list of it is kept, so that none can be lost.
import { clockOf } from '../core/clock/clock.ts'
import type { Erasure } from '../events/erasures.ts'
import type { LogKey } from '../events/logs.ts'
import { atOnce, type Finder, find, slices, sqlOf } from './engine.ts'
import { type HeldCalls, type LeftOut, leftOut, nothingHeld } from './held-calls.ts'
import type { RowRemoval } from './rows.ts'

export type DueDeps = Finder & {
  removal: Pick<RowRemoval, 'tablesWith'>
  held: HeldCalls
  /** Projects that were removed, with when: nothing of theirs stays, whatever comes late. */
  removedProjects(): ReadonlyMap<string, number>
}

/** Deleted calls of a project that are still stored: accept timestamps of each delete, and of the oldest part. */
export type Deleted = { id: string; deleteVer: bigint; partVer: bigint }

/** Deleted log records that are stored: accept timestamps of the delete, and of the record. */
export type DueLog = LogKey & { deleteVer: bigint; partVer: bigint }

/** A purge may come into the log so long after the request of another one that got its accept timestamp later. */
const lateVer = clockOf(600_000)
/** Log records that one page names. */
const logsAtOnce = 50_000

/** Those for which a condition holds, and the others. */
export function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

const ofProject = 'project_id = {project:String}'
const ofProjects = 'project_id IN {projects:Array(String)}'

/** Calls that are deleted and stored. */
const deletedCalls = (where: string): string => sqlOf('erasure.deleted-calls', { where })

/** Traces of which deleted calls are all that is left. */
const goneTraces = (where: string, { heldCall }: LeftOut): string => sqlOf('erasure.gone-traces', { where, heldCall })

/** Log records that are deleted and stored, but for held ones. */
function deletedLogs(where: string, left: LeftOut): string {
  const { heldCall, heldRecord } = left
  const gone = goneTraces(where, left)
  const keys = sqlOf('erasure.deleted-log-keys', { where, gone, heldCall })
  return sqlOf('erasure.deleted-logs', { where, keys, heldRecord })
}

/** Both, by what statements on either have. */
const both = (calls: string, logs: string): string => sqlOf('erasure.calls-and-logs', { calls, logs })

/** Calls and log records that are deleted and stored, but for held ones. */
const deletedRows = (where: string, left: LeftOut): string =>
  both(deletedCalls(`${where} AND NOT (${left.heldCall})`), deletedLogs(where, left))

async function oldestDeletes(deps: DueDeps, where: string, left: LeftOut, project = ''): Promise<Map<string, bigint>> {
  const params = { project, ...left.params }
  const parts = { calls: deletedRows(where, left) }
  const rows = await find<{ project_id: string; oldest: string }>(deps, 'erasure.projects', params, parts)
  return new Map(rows.map(({ project_id, oldest }) => [project_id, BigInt(oldest)]))
}

/** Finds projects with something to remove that nothing holds, and the accept timestamp of the oldest delete. */
export async function dueProjects(deps: DueDeps): Promise<Map<string, bigint>> {
  const { held, removal } = deps
  const due = new Map<string, bigint>()
  for (const [projectId, oldest] of await oldestDeletes(deps, '1', nothingHeld)) {
    const left = await leftOut(held, projectId)
    if (left === nothingHeld) due.set(projectId, oldest)
    else if (left) for (const [id, ver] of await oldestDeletes(deps, ofProject, left, projectId)) due.set(id, ver)
  }
  const removed = deps.removedProjects()
  const left = await removal.tablesWith([...removed.keys()].filter((projectId) => !held.isAny(projectId)))
  for (const projectId of left.keys()) due.set(projectId, clockOf(removed.get(projectId) as number))
  return due
}

/**
 * Finds erasures of which something is left that they were to remove. Parts that come again afterwards keep none open: they
 * are removed with what is due next.
 */
export async function blockedErasures(deps: DueDeps, verifying: readonly Erasure[]): Promise<Set<Erasure>> {
  const { held, removal } = deps
  const [ofRemoved, others] = parted(verifying, ({ projectId }) => deps.removedProjects().has(projectId))
  const tables = await removal.tablesWith([...new Set(ofRemoved.map(({ projectId }) => projectId))], true)
  const blocked = new Set(ofRemoved.filter(({ projectId }) => tables.has(projectId)))
  // Those of projects without holds in one statement, the others one by one.
  const groups = Map.groupBy(others, ({ projectId }) => (held.isAny(projectId) ? projectId : ''))
  for (const [heldProject, erasures] of groups) {
    const left = heldProject === '' ? nothingHeld : await leftOut(held, heldProject)
    if (left === null) continue
    const params = {
      ...left.params,
      projects: erasures.map(({ projectId }) => projectId),
      untils: erasures.map(({ untilVer }) => String(untilVer)),
      removed: erasures.map(({ changedMs }) => String(clockOf(changedMs))),
    }
    const rows = await find<{ n: string }>(deps, 'erasure.left', params, { calls: deletedRows(ofProjects, left) })
    for (const { n } of rows) blocked.add(erasures[Number(n)] as Erasure)
  }
  return blocked
}

/** Reads the next deleted calls of a project, in the order of their ids. */
export async function nextCalls(deps: DueDeps, projectId: string, last?: Deleted): Promise<Deleted[]> {
  const left = await leftOut(deps.held, projectId)
  if (left === null) return []
  const params = { project: projectId, after: last?.id ?? '', limit: atOnce, ...left.params }
  const calls = deletedCalls(`${ofProject} AND NOT (${left.heldCall}) AND id > {after:String}`)
  const rows = await find<{ id: string; ver: string; part: string }>(deps, 'erasure.calls', params, { calls })
  return rows.map(({ id, ver, part }) => ({ id, deleteVer: BigInt(ver), partVer: BigInt(part) }))
}

/** Reads the next deleted log records of a project, in the order of their times. */
export async function nextLogs(deps: DueDeps, projectId: string, last?: DueLog): Promise<DueLog[]> {
  const left = await leftOut(deps.held, projectId)
  if (left === null) return []
  // Before all log records.
  const { at, id } = last ?? { at: '-9000000000000000000', id: '' }
  const params = { project: projectId, after_ns: at, after: id, limit: logsAtOnce, ...left.params }
  const rows = await find<{ id: string; ns: string; ver: string; part: string }>(deps, 'erasure.logs', params, {
    logs: deletedLogs(ofProject, left),
  })
  return rows.map(({ id, ns, ver, part }) => ({ id, at: ns, deleteVer: BigInt(ver), partVer: BigInt(part) }))
}

/** Finds which of some traces have no calls any more, with the accept timestamp of the last delete. */
export async function tracesWithoutCalls(
  deps: DueDeps,
  projectId: string,
  traces: readonly string[],
): Promise<Map<string, bigint>> {
  const left = await leftOut(deps.held, projectId)
  const gone = new Map<string, bigint>()
  if (left === null) return gone
  for (const some of slices(traces)) {
    const params = { project: projectId, ids: left.params.ids, traces: some }
    const rows = await find<{ trace_id: string; ver: string }>(deps, 'erasure.traces-without-calls', params, {
      gone: goneTraces(ofProject, left),
    })
    for (const { trace_id, ver } of rows) gone.set(trace_id, BigInt(ver))
  }
  return gone
}

/**
 * Finds feedback of a project that was purged since its erasures before were asked for, or made anew under its id: up to
 * when its rows go, by id.
 */
export async function dueFeedback(deps: DueDeps, projectId: string, erasures: readonly Erasure[]) {
  const [oldest] = erasures.map(({ untilVer }) => untilVer).sort((a, b) => (a < b ? -1 : 1))
  if (oldest === undefined) return []
  const params = { project: projectId, oldest: String(oldest), margin: String(lateVer) }
  const rows = await find<{ id: string; ver: string; is_purged: number }>(deps, 'erasure.feedback-purged', params)
  return rows.map(({ id, ver, is_purged }) => ({ id, ver: BigInt(ver), isPurged: is_purged === 1 }))
}

/** Counts deleted calls, and log records by themselves, that stay as they are held, by erasure that asked for them. */
export async function heldCounts(
  deps: DueDeps,
  projectId: string,
  erasures: readonly Erasure[],
): Promise<Map<Erasure, number>> {
  const left = await leftOut(deps.held, projectId)
  const where = left === null ? ofProject : `${ofProject} AND ${left.heldCall}`
  const logs = sqlOf('erasure.held-logs', { where: ofProject, heldRecord: left?.heldRecord ?? '1' })
  const sorted = [...erasures].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
  const params = { project: projectId, untils: sorted.map(({ untilVer }) => String(untilVer)), ...left?.params }
  const rows = await find<{ n: number; held: string }>(deps, 'erasure.held', params, {
    calls: both(deletedCalls(where), logs),
  })
  return new Map(rows.map(({ n, held }) => [sorted[Number(n) - 1] as Erasure, Number(held)]))
}
