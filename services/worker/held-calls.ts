// Which calls of a project are held, as the tables say it at that moment: whatever removes rows leaves them out.
import { type HeldKeys, mostHeldCalls } from '../core/directory/holds.ts'
import type { Store } from '../core/store/store.ts'
import { statement } from './statements.ts'

const background = { pool: 'background' } as const

export type HeldCalls = {
  /** Whether anything of a project is held: without a look into tables. */
  isAny(projectId: string): boolean
  /** Ids of the calls that are held; 'all' = everything of the project stays. */
  of(projectId: string): Promise<ReadonlySet<string> | 'all'>
}

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
        const names = { traces: [...held.traceIds], threads: [...held.threadIds] }
        const query = statement('held.calls', { project: projectId, ...names, limit: most + 1 })
        for (const { id } of await store.rows<{ id: string }>(query, background)) ids.add(id)
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
    statement('held.rows', { project: projectId, ids: named }),
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
