// Which calls of a project are held, as the tables say it at that moment: whatever removes rows leaves them out.
import type { HeldKeys } from '../core/directory/holds.ts'
import type { Store } from '../core/store/store.ts'

/** Held calls that statements name one by one; of a project with more of them everything stays. */
const mostHeldCalls = 10_000
const background = { pool: 'background' } as const

export type HeldCalls = {
  /** Whether anything of a project is held: without a look into tables. */
  isAny(projectId: string): boolean
  /** Ids of the calls that are held; 'all' = everything of the project stays. */
  of(projectId: string): Promise<ReadonlySet<string> | 'all'>
}

/** Also of parts that came alone. A trace is found by its key, a thread by a column of all calls. */
const heldSql = `
  SELECT DISTINCT id FROM
    (
      SELECT id FROM callhouse.calls WHERE project_id = {project:String} AND trace_id IN {traces:Array(String)}
        AND started_at IN
        (
          SELECT started_at FROM callhouse.call_keys
          WHERE project_id = {project:String} AND kind = 'trace_id' AND key IN {traces:Array(String)}
        )
      UNION ALL
      SELECT id FROM callhouse.calls WHERE project_id = {project:String}
        AND notEmpty({threads:Array(String)}) AND thread_id IN {threads:Array(String)}
      UNION ALL
      SELECT id FROM callhouse.call_patches WHERE project_id = {project:String}
        AND (trace_id IN {traces:Array(String)} OR thread_id IN {threads:Array(String)})
    )
  LIMIT ${mostHeldCalls + 1}`

export function createHeldCalls(deps: {
  store: Pick<Store, 'rows'>
  /** What the directory says is held of a project. */
  heldOf(projectId: string): HeldKeys
  /** Held calls from which on the whole project is. */
  most?: number
}): HeldCalls {
  const { store, heldOf, most = mostHeldCalls } = deps
  const isAnyOf = ({ all, callIds, traceIds, threadIds }: HeldKeys) =>
    all || callIds.size + traceIds.size + threadIds.size > 0
  return {
    isAny: (projectId) => isAnyOf(heldOf(projectId)),
    async of(projectId) {
      const held = heldOf(projectId)
      if (held.all) return 'all'
      const ids = new Set(held.callIds)
      if (held.traceIds.size + held.threadIds.size > 0) {
        const params = { project: projectId, traces: [...held.traceIds], threads: [...held.threadIds] }
        for (const { id } of await store.rows<{ id: string }>({ name: 'held.calls', sql: heldSql, params }, background))
          ids.add(id)
      }
      return ids.size > most ? 'all' : ids
    },
  }
}

/** What of rows belongs to held calls, as parameters of statements. */
export type HeldRows = {
  ids: string[]
  traces: string[]
  /** As `spanKey` names them. */
  spans: string[]
  /** Keys by which the calls are found, and when they start. */
  keys: string[]
  times: number[]
}

export async function readHeldRows(
  store: Pick<Store, 'rows'>,
  projectId: string,
  ids: ReadonlySet<string>,
): Promise<HeldRows> {
  const named = [...ids]
  const rows = await store.rows<{ id: string; trace_id: string; parent_id: string; us: string }>(
    {
      name: 'held.rows',
      sql: `SELECT DISTINCT id, trace_id, parent_id, us FROM
        (
          SELECT id, trace_id, parent_id, toString(toUnixTimestamp64Micro(started_at)) AS us FROM callhouse.calls
          WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND started_at IN
            (
              SELECT started_at FROM callhouse.call_keys
              WHERE project_id = {project:String} AND kind = 'id' AND key IN {ids:Array(String)}
            )
          UNION ALL
          SELECT id, trace_id, parent_id, toString(toUnixTimestamp64Micro(started_at)) FROM callhouse.call_patches
          WHERE project_id = {project:String} AND id IN {ids:Array(String)} AND trace_id != ''
        )`,
      params: { project: projectId, ids: named },
    },
    background,
  )
  const distinct = <T>(all: T[]) => [...new Set(all)]
  return {
    ids: named,
    traces: distinct(rows.map(({ trace_id }) => trace_id)),
    spans: rows.map(({ trace_id, id }) => `${trace_id} ${id}`),
    keys: distinct(rows.flatMap(({ id, trace_id, parent_id }) => [id, trace_id, parent_id])).filter(Boolean),
    times: distinct(rows.map(({ us }) => Number(us))),
  }
}
