// What erasures still have to remove, as the tables say it: no list of it is kept, so that none can be lost.
import { clockOf } from '../../core/clock/clock.ts'
import type { Query, Store } from '../../core/store/store.ts'
import type { Erasure } from '../../events/erasures.ts'
import type { HeldCalls } from '../held-calls.ts'
import { statement } from '../statements.ts'
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

/** Calls that are deleted and stored. */
const deletedCalls = (where = '1'): string => statement('erasure.deleted-calls', {}, { where }).sql
const ofProject = 'project_id = {project:String}'
const free = `${ofProject} AND id NOT IN {held:Array(String)}`

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
  /**
   * Feedback of a project that was purged since its erasures before were asked for, or made anew under its id: up to when
   * its rows go, by id.
   */
  feedback(projectId: string, erasures: readonly Erasure[]): Promise<Map<string, { ver: bigint; isPurged: boolean }>>
  /** Deleted calls that stay as they are held: how many, by erasure that asked for them. */
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
  async function heldOf(projectId: string): Promise<{ held: string[] } | null> {
    const ids = await held.of(projectId)
    return ids === 'all' ? null : { held: [...ids] }
  }

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
        statement('erasure.projects', {}, { calls: deletedCalls() }),
      )
      const due = new Map<string, bigint>()
      for (const { project_id, oldest } of rows) {
        if (!held.isAny(project_id)) {
          due.set(project_id, BigInt(oldest))
          continue
        }
        const params = await heldOf(project_id)
        if (params === null) continue
        const [row] = await read<{ n: string; oldest: string }>(
          statement('erasure.free-calls', { project: project_id, ...params }, { calls: deletedCalls(free) }),
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
      if (ofFree.length > 0) for (const one of await leftOf(ofFree, deletedCalls(), {})) blocked.add(one)
      for (const [project, own] of Map.groupBy(ofHeld, ({ projectId }) => projectId)) {
        const params = await heldOf(project)
        if (params === null) continue
        for (const one of await leftOf(own, deletedCalls(free), { project, ...params })) blocked.add(one)
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
      const calls = deletedCalls(params === null ? ofProject : `${ofProject} AND id IN {held:Array(String)}`)
      const sorted = [...erasures].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
      const named = { project: projectId, untils: sorted.map(({ untilVer }) => String(untilVer)), ...params }
      const rows = await read<{ n: number; held: string }>(statement('erasure.held', named, { calls }))
      return new Map(rows.map(({ n, held: count }) => [sorted[Number(n) - 1] as Erasure, Number(count)]))
    },
  }
}
