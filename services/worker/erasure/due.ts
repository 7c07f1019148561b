// What erasures still have to remove, as the tables say it: no list of it is kept, so that none can be lost.
import { clockOf } from '../../core/clock/clock.ts'
import type { Store } from '../../core/store/store.ts'
import type { Erasure } from '../../events/erasures.ts'
import type { HeldCalls } from '../held-calls.ts'
import { callsAtOnce, type RowRemoval, refOf } from './remove-rows.ts'

const background = { pool: 'background' } as const
/** A purge may come into the log so long after the request of another one that got its accept timestamp later. */
const lateVer = clockOf(600_000)

/** Those for which a condition holds, and the others. */
export function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

/** Deleted calls of a project that are still stored: accept timestamps of each delete, and of the oldest part. */
type Deleted = { id: string; deleteVer: bigint; partVer: bigint }

const oldestPart = 'if(start_ver = 0 OR (end_ver > 0 AND end_ver < start_ver), end_ver, start_ver)'
/** Calls that are deleted and stored: accept timestamps of the delete, and of the oldest part that is stored. */
const deletedCalls = (where = '1'): string => `
  SELECT project_id, id, delete_ver AS deleted, ${oldestPart} AS part
  FROM callhouse.calls WHERE delete_ver > 0 AND ${where}
  UNION ALL
  SELECT project_id, id, maxIf(clock, kind = 'delete'), minIf(clock, kind != 'delete')
  FROM callhouse.call_patches
  WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.call_patches WHERE kind = 'delete') AND ${where}
  GROUP BY project_id, id HAVING countIf(kind != 'delete') > 0`
const ofProject = 'project_id = {project:String}'
const free = `${ofProject} AND id NOT IN {held:Array(String)}`
/** Items of feedback by whose refs they are of held calls. */
const feedbackOfHeld = `SELECT id FROM callhouse.feedback WHERE ${ofProject} AND weave_ref IN {refs:Array(String)}`

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
  /** Feedback of a project that was purged since its erasures before were asked for: ids, with when. */
  feedback(projectId: string, erasures: readonly Erasure[]): Promise<Map<string, bigint>>
  /** Calls, and items of feedback that were purged of calls, which stay as these are held: by erasure that asked for them. */
  held(projectId: string, erasures: readonly Erasure[]): Promise<Map<Erasure, number>>
}

export function createDue(deps: {
  store: Pick<Store, 'rows'>
  removal: Pick<RowRemoval, 'tablesWith'>
  held: HeldCalls
  removedProjects(): ReadonlyMap<string, number>
}): Due {
  const { store, removal, held, removedProjects } = deps
  const read = <Row>(name: string, sql: string, params: Record<string, unknown> = {}): Promise<Row[]> =>
    store.rows<Row>({ name, sql, params }, background)

  /** Parameters that name what is held of a project. @returns null = everything is */
  async function heldOf(projectId: string): Promise<{ held: string[]; refs: string[] } | null> {
    const ids = await held.of(projectId)
    if (ids === 'all') return null
    return { held: [...ids], refs: [...ids].map((id) => refOf(projectId, id)) }
  }

  const leftOf = async (erasures: readonly Erasure[], calls: string, params: Record<string, unknown>) => {
    const rows = await read<{ n: string }>(
      'erasure.left',
      `SELECT DISTINCT toString(n) AS n FROM
        (
          SELECT arrayJoin(arrayFilter(
            (n, project, until, removed) -> project = project_id AND deleted <= until AND part <= removed,
            range(toUInt32(length({projects:Array(String)}))),
            {projects:Array(String)}, {untils:Array(UInt64)}, {removed:Array(UInt64)}
          )) AS n
          FROM (${calls}) WHERE project_id IN {projects:Array(String)}
        )`,
      {
        ...params,
        projects: erasures.map(({ projectId }) => projectId),
        untils: erasures.map(({ untilVer }) => String(untilVer)),
        removed: erasures.map(({ changedMs }) => String(clockOf(changedMs))),
      },
    )
    return rows.map(({ n }) => erasures[Number(n)] as Erasure)
  }

  /** Accept timestamp after which feedback was purged that these erasures are about: of the last one before that is done. */
  const purgedSince = `(SELECT max(until_ver) FROM callhouse.erasures FINAL
    WHERE ${ofProject} AND status = 'done' AND until_ver < {oldest:UInt64})`
  const oldestOf = (erasures: readonly Erasure[]): string | undefined =>
    erasures
      .map(({ untilVer }) => untilVer)
      .sort((a, b) => (a < b ? -1 : 1))[0]
      ?.toString()

  return {
    async projects() {
      const rows = await read<{ project_id: string; oldest: string }>(
        'erasure.projects',
        `SELECT project_id, toString(min(deleted)) AS oldest FROM (${deletedCalls()}) GROUP BY project_id`,
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
          'erasure.free-calls',
          `SELECT toString(count()) AS n, toString(min(deleted)) AS oldest FROM (${deletedCalls(free)})`,
          { project: project_id, ...params },
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
      const rows = await read<{ id: string; ver: string; part: string }>(
        'erasure.calls',
        `SELECT id, toString(max(deleted)) AS ver, toString(minIf(part, part > 0)) AS part
          FROM (${deletedCalls(`${free} AND id > {after:String}`)})
          GROUP BY id ORDER BY id LIMIT ${callsAtOnce}`,
        { project: projectId, after, ...params },
      )
      return rows.map(({ id, ver, part }) => ({ id, deleteVer: BigInt(ver), partVer: BigInt(part) }))
    },

    async feedback(projectId, erasures) {
      const [oldest, params] = [oldestOf(erasures), await heldOf(projectId)]
      if (oldest === undefined || params === null) return new Map()
      const rows = await read<{ id: string; ver: string }>(
        'erasure.feedback-purged',
        `SELECT id, toString(max(clock)) AS ver FROM callhouse.feedback
          WHERE ${ofProject} AND purged = 1 AND clock + {margin:UInt64} > ${purgedSince}
          AND id NOT IN (${feedbackOfHeld})
          GROUP BY id`,
        { project: projectId, oldest, margin: String(lateVer), ...params },
      )
      return new Map(rows.map(({ id, ver }) => [id, BigInt(ver)]))
    },

    async held(projectId, erasures) {
      const found = new Map<Erasure, number>()
      const oldest = oldestOf(erasures)
      if (oldest === undefined) return found
      const params = await heldOf(projectId)
      const [calls, items] =
        params === null
          ? [deletedCalls(ofProject), `${ofProject}`]
          : [deletedCalls(`${ofProject} AND id IN {held:Array(String)}`), `${ofProject} AND id IN (${feedbackOfHeld})`]
      const sorted = [...erasures].sort((a, b) => (a.untilVer < b.untilVer ? -1 : 1))
      const rows = await read<{ n: number; held: string }>(
        'erasure.held',
        `SELECT toFloat64(indexOf(arrayMap(until -> deleted <= until, {untils:Array(UInt64)}), 1)) AS n,
            toString(uniqExact(what)) AS held
          FROM
          (
            SELECT concat('call ', id) AS what, deleted FROM (${calls})
            UNION ALL
            SELECT concat('feedback ', id), max(clock) FROM callhouse.feedback
            WHERE ${items} GROUP BY id HAVING max(purged) = 1 AND min(purged) = 0
              AND maxIf(clock, purged = 1) + {margin:UInt64} > ${purgedSince}
          )
          GROUP BY n HAVING n > 0`,
        {
          ...{ project: projectId, oldest, margin: String(lateVer), ...params },
          untils: sorted.map(({ untilVer }) => String(untilVer)),
        },
      )
      for (const row of rows) found.set(sorted[Number(row.n) - 1] as Erasure, Number(row.held))
      return found
    },
  }
}
