// Finds the remaining work of erasures in the tables: no list of it is kept, so that none can be lost.
import { clockOf } from '../core/clock/clock.ts'
import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Erasure } from '../events/erasures.ts'
import type { LogKey } from '../events/logs.ts'
import { type HeldCalls, type HeldRows, heldRecord } from './held-calls.ts'
import { callsAtOnce, type RowRemoval } from './remove-rows.ts'

const background = { pool: 'background' } as const
/** A purge may come into the log so long after the request of another one that got its accept timestamp later. */
const lateVer = clockOf(600_000)

/** Those for which a condition holds, and the others. */
export function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

/** Deleted calls of a project that are still stored: accept timestamps of each delete, and of the oldest part. */
export type Deleted = { id: string; deleteVer: bigint; partVer: bigint }

/** Deleted log records that are stored: accept timestamps of the delete, and of the record. */
export type DueLog = LogKey & { deleteVer: bigint; partVer: bigint }

/** Log records that one page names. */
const logsAtOnce = 50_000

/** Calls that are deleted and stored. */
const deletedCalls = (where = '1'): string => statement('erasure.deleted-calls', {}, { where }).sql
const ofProject = 'project_id = {project:String}'
const ofProjects = 'project_id IN {projects:Array(String)}'
const free = `${ofProject} AND id NOT IN {ids:Array(String)}`

type HeldParts = { heldCall: string; heldRecord: string }
const noneHeld: HeldParts = { heldCall: '0', heldRecord: '0' }
const someHeld: HeldParts = { heldCall: 'id IN {ids:Array(String)}', heldRecord }

/** Traces of which deleted calls are all that is left. */
const goneTraces = (where: string, { heldCall }: HeldParts): string =>
  statement('erasure.gone-traces', {}, { where, heldCall }).sql

/** Log records that are deleted and stored. */
function deletedLogs(where: string, held: HeldParts): string {
  const gone = goneTraces(where, held)
  const keys = statement('erasure.deleted-log-keys', {}, { where, gone, heldCall: held.heldCall }).sql
  return statement('erasure.deleted-logs', {}, { where, keys, heldRecord: held.heldRecord }).sql
}

/** Both, by what statements on either have. */
const both = (calls: string, logs: string): string => statement('erasure.calls-and-logs', {}, { calls, logs }).sql

export type Due = {
  /** Projects with something to remove that nothing holds, and the accept timestamp of the oldest delete. */
  projects(): Promise<Map<string, bigint>>
  /**
   * Erasures of which something is left that they were to remove. Parts that come again afterwards keep none open: they
   * are removed with what is due next.
   */
  blocked(verifying: readonly Erasure[]): Promise<Set<Erasure>>
  /** The next deleted calls of a project, in the order of their ids. */
  calls(projectId: string, after: string): Promise<Deleted[]>
  /** The next deleted log records of a project, in the order of their times. */
  logs(projectId: string, after: LogKey): Promise<DueLog[]>
  /** The given traces that have no calls any more, with the accept timestamp of the last delete. */
  goneTraces(projectId: string, traces: readonly string[]): Promise<Map<string, bigint>>
  /**
   * Feedback of a project that was purged since its erasures before were asked for, or made anew under its id: up to when
   * its rows go, by id.
   */
  feedback(projectId: string, erasures: readonly Erasure[]): Promise<Map<string, { ver: bigint; isPurged: boolean }>>
  /** Deleted calls, and log records by themselves, that stay as they are held: how many, by erasure that asked for them. */
  held(projectId: string, erasures: readonly Erasure[]): Promise<Map<Erasure, number>>
}

export function createDue(deps: {
  store: Pick<Store, 'rows'>
  removal: Pick<RowRemoval, 'tablesWith'>
  held: HeldCalls
  removedProjects(): ReadonlyMap<string, number>
}): Due {
  const { store, removal, held, removedProjects } = deps
  const read = <Row>(query: Query): Promise<Row[]> => store.rows<Row>(query, background)

  /** Parameters that name what is held of a project. @returns null = everything is */
  async function heldOf(projectId: string): Promise<HeldRows | Pick<HeldRows, 'ids'> | null> {
    if (!held.isAny(projectId)) return { ids: [] }
    const rows = await held.rows(projectId)
    return rows === 'all' ? null : rows
  }
  const partsOf = (projectId: string): HeldParts => (held.isAny(projectId) ? someHeld : noneHeld)

  const leftOf = async (erasures: readonly Erasure[], calls: string, params: Record<string, unknown>) => {
    const named = {
      ...params,
      projects: erasures.map(({ projectId }) => projectId),
      untils: erasures.map(({ untilVer }) => String(untilVer)),
      removed: erasures.map(({ changedMs }) => String(clockOf(changedMs))),
    }
    const rows = await read<{ n: string }>(statement('erasure.left', named, { calls }))
    return rows.map(({ n }) => erasures[Number(n)] as Erasure)
  }

  return {
    async projects() {
      const rows = await read<{ project_id: string; oldest: string }>(
        statement('erasure.projects', {}, { calls: both(deletedCalls(), deletedLogs('1', noneHeld)) }),
      )
      const due = new Map<string, bigint>()
      for (const { project_id, oldest } of rows) {
        if (!held.isAny(project_id)) {
          due.set(project_id, BigInt(oldest))
          continue
        }
        const params = await heldOf(project_id)
        if (params === null) continue
        const calls = both(deletedCalls(free), deletedLogs(ofProject, someHeld))
        const [row] = await read<{ n: string; oldest: string }>(
          statement('erasure.free-calls', { project: project_id, ...params }, { calls }),
        )
        if (row !== undefined && row.n !== '0') due.set(project_id, BigInt(row.oldest))
      }
      const removed = removedProjects()
      const left = await removal.tablesWith([...removed.keys()].filter((projectId) => !held.isAny(projectId)))
      for (const projectId of left.keys()) due.set(projectId, clockOf(removed.get(projectId) as number))
      return due
    },

    async blocked(verifying) {
      const [ofRemoved, others] = parted(verifying, ({ projectId }) => removedProjects().has(projectId))
      const left = await removal.tablesWith([...new Set(ofRemoved.map(({ projectId }) => projectId))], true)
      const blocked = new Set(ofRemoved.filter(({ projectId }) => left.has(projectId)))
      const [ofHeld, ofFree] = parted(others, ({ projectId }) => held.isAny(projectId))
      const all = both(deletedCalls(), deletedLogs(ofProjects, noneHeld))
      if (ofFree.length > 0) for (const one of await leftOf(ofFree, all, {})) blocked.add(one)
      for (const [project, own] of Map.groupBy(ofHeld, ({ projectId }) => projectId)) {
        const params = await heldOf(project)
        if (params === null) continue
        const left = both(deletedCalls(free), deletedLogs(ofProject, someHeld))
        for (const one of await leftOf(own, left, { project, ...params })) blocked.add(one)
      }
      return blocked
    },

    async calls(projectId, after) {
      const params = await heldOf(projectId)
      if (params === null) return []
      const named = { project: projectId, after, limit: callsAtOnce, ...params }
      const rows = await read<{ id: string; ver: string; part: string }>(
        statement('erasure.calls', named, { calls: deletedCalls(`${free} AND id > {after:String}`) }),
      )
      return rows.map(({ id, ver, part }) => ({ id, deleteVer: BigInt(ver), partVer: BigInt(part) }))
    },

    async logs(projectId, { at, id }) {
      const params = await heldOf(projectId)
      if (params === null) return []
      const named = { project: projectId, after_ns: at, after: id, limit: logsAtOnce, ...params }
      const logs = deletedLogs(ofProject, partsOf(projectId))
      const rows = await read<{ id: string; ns: string; ver: string; part: string }>(
        statement('erasure.logs', named, { logs }),
      )
      return rows.map(({ id, ns, ver, part }) => ({ id, at: ns, deleteVer: BigInt(ver), partVer: BigInt(part) }))
    },

    async goneTraces(projectId, traces) {
      const params = await heldOf(projectId)
      const gone = new Map<string, bigint>()
      for (let i = 0; params !== null && i < traces.length; i += callsAtOnce) {
        const named = { project: projectId, ids: params.ids, traces: traces.slice(i, i + callsAtOnce) }
        const rows = await read<{ trace_id: string; ver: string }>(
          statement('erasure.traces-without-calls', named, { gone: goneTraces(ofProject, partsOf(projectId)) }),
        )
        for (const { trace_id, ver } of rows) gone.set(trace_id, BigInt(ver))
      }
      return gone
    },

    async feedback(projectId, erasures) {
      const [oldest] = erasures.map(({ untilVer }) => untilVer).sort((a, b) => (a < b ? -1 : 1))
      if (oldest === undefined) return new Map()
      const named = { project: projectId, oldest: String(oldest), margin: String(lateVer) }
      const rows = await read<{ id: string; ver: string; is_purged: number }>(
        statement('erasure.feedback-purged', named),
      )
      return new Map(rows.map(({ id, ver, is_purged }) => [id, { ver: BigInt(ver), isPurged: is_purged === 1 }]))
    },

    async held(projectId, erasures) {
      const params = await heldOf(projectId)
      const [where, record] =
        params === null ? [ofProject, '1'] : [`${ofProject} AND id IN {ids:Array(String)}`, heldRecord]
      const logs = statement('erasure.held-logs', {}, { where: ofProject, heldRecord: record }).sql
      const calls = both(deletedCalls(where), logs)
      const sorted = [...erasures].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
      const named = { project: projectId, untils: sorted.map(({ untilVer }) => String(untilVer)), ...params }
      const rows = await read<{ n: number; held: string }>(statement('erasure.held', named, { calls }))
      return new Map(rows.map(({ n, held: count }) => [sorted[Number(n) - 1] as Erasure, Number(count)]))
    },
  }
}
