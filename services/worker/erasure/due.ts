// What erasures still have to remove, as the tables say it: no list of it is kept, so that none can be lost.
import { clockOf } from '../../core/clock/clock.ts'
import type { Store } from '../../core/store/store.ts'
import type { Erasure } from '../../events/erasures.ts'
import { callsAtOnce, type RowRemoval } from './remove-rows.ts'

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
const deletedCallsSql = `
  SELECT project_id, id, delete_ver AS deleted, ${oldestPart} AS part
  FROM callhouse.calls WHERE delete_ver > 0
  UNION ALL
  SELECT project_id, id, maxIf(clock, kind = 'delete'), minIf(clock, kind != 'delete')
  FROM callhouse.call_patches
  WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.call_patches WHERE kind = 'delete')
  GROUP BY project_id, id HAVING countIf(kind != 'delete') > 0`

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
}

export function createDue(deps: {
  store: Pick<Store, 'rows'>
  removal: Pick<RowRemoval, 'tablesWith'>
  isHeld(projectId: string): boolean
  removedProjects(): ReadonlyMap<string, number>
}): Due {
  const { store, removal, isHeld, removedProjects } = deps
  const read = <Row>(name: string, sql: string, params: Record<string, unknown> = {}): Promise<Row[]> =>
    store.rows<Row>({ name, sql, params }, background)

  return {
    async projects() {
      const rows = await read<{ project_id: string; oldest: string }>(
        'erasure.projects',
        `SELECT project_id, toString(min(deleted)) AS oldest FROM (${deletedCallsSql}) GROUP BY project_id`,
      )
      const free = rows.filter(({ project_id }) => !isHeld(project_id))
      const due = new Map(free.map(({ project_id, oldest }) => [project_id, BigInt(oldest)]))
      const removed = removedProjects()
      const left = await removal.tablesWith([...removed.keys()].filter((projectId) => !isHeld(projectId)))
      for (const projectId of left.keys()) due.set(projectId, clockOf(removed.get(projectId) as number))
      return due
    },

    async blocked(verifying) {
      const [ofRemoved, others] = parted(verifying, ({ projectId }) => removedProjects().has(projectId))
      const left = await removal.tablesWith([...new Set(ofRemoved.map(({ projectId }) => projectId))], true)
      const blocked = new Set(ofRemoved.filter(({ projectId }) => left.has(projectId)))
      if (others.length === 0) return blocked
      const rows = await read<{ n: string }>(
        'erasure.left',
        `SELECT DISTINCT toString(n) AS n FROM
          (
            SELECT arrayJoin(arrayFilter(
              (n, project, until, removed) -> project = project_id AND deleted <= until AND part <= removed,
              range(toUInt32(length({projects:Array(String)}))),
              {projects:Array(String)}, {untils:Array(UInt64)}, {removed:Array(UInt64)}
            )) AS n
            FROM (${deletedCallsSql}) WHERE project_id IN {projects:Array(String)}
          )`,
        {
          projects: others.map(({ projectId }) => projectId),
          untils: others.map(({ untilVer }) => String(untilVer)),
          removed: others.map(({ changedMs }) => String(clockOf(changedMs))),
        },
      )
      for (const { n } of rows) blocked.add(others[Number(n)] as Erasure)
      return blocked
    },

    async calls(projectId, after) {
      const rows = await read<{ id: string; ver: string; part: string }>(
        'erasure.calls',
        `SELECT id, toString(max(deleted)) AS ver, toString(minIf(part, part > 0)) AS part FROM
          (
            SELECT id, delete_ver AS deleted, ${oldestPart} AS part FROM callhouse.calls
            WHERE project_id = {project:String} AND delete_ver > 0 AND id > {after:String}
            UNION ALL
            SELECT id, maxIf(clock, kind = 'delete'), minIf(clock, kind != 'delete') FROM callhouse.call_patches
            WHERE project_id = {project:String} AND id > {after:String} AND id IN
              (SELECT id FROM callhouse.call_patches WHERE project_id = {project:String} AND kind = 'delete')
            GROUP BY id HAVING countIf(kind != 'delete') > 0
          )
          GROUP BY id ORDER BY id LIMIT ${callsAtOnce}`,
        { project: projectId, after },
      )
      return rows.map(({ id, ver, part }) => ({ id, deleteVer: BigInt(ver), partVer: BigInt(part) }))
    },

    async feedback(projectId, erasures) {
      const [oldest] = erasures.map(({ untilVer }) => untilVer).sort((a, b) => (a < b ? -1 : 1))
      if (oldest === undefined) return new Map()
      const rows = await read<{ id: string; ver: string }>(
        'erasure.feedback-purged',
        `SELECT id, toString(max(clock)) AS ver FROM callhouse.feedback
          WHERE project_id = {project:String} AND purged = 1 AND clock + {margin:UInt64} > (
            SELECT max(until_ver) FROM callhouse.erasures FINAL
            WHERE project_id = {project:String} AND status = 'done' AND until_ver < {oldest:UInt64})
          GROUP BY id`,
        { project: projectId, oldest: String(oldest), margin: String(lateVer) },
      )
      return new Map(rows.map(({ id, ver }) => [id, BigInt(ver)]))
    },
  }
}
