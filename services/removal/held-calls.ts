// Finds the held calls of a project in the tables at that moment: everything that removes rows leaves them out.
import { type HeldKeys, mostHeldCalls } from '../core/directory/holds.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { promptEventNames, turnAttributes, turnIdOfSaid } from '../events/gen-ai-events.ts'
import { recordNames, threadNamesOf } from '../events/record-names.ts'

const background = { pool: 'background' } as const

export type HeldCalls = {
  /** Whether anything of a project is held: without a look into tables. */
  isAny(projectId: string): boolean
  /** Ids of the calls that are held; 'all' = everything of the project stays. */
  of(projectId: string): Promise<ReadonlySet<string> | 'all'>
  /** Rows of held calls that are found by other columns than ids of calls, 'all' as well. */
  rows(projectId: string): Promise<HeldRows | 'all'>
}

export function createHeldCalls(deps: {
  store: Pick<Store, 'rows'>
  /** Holds of a project, from the directory. */
  heldOf(projectId: string): HeldKeys
  /** Namespaces of attributes, one of which may name a thread. */
  vendors: readonly string[]
  /** Number of held calls from which on the whole project is held. */
  most?: number
}): HeldCalls {
  const { store, heldOf, most = mostHeldCalls } = deps
  const { names: threadNames, paths: threadPaths, keys: threadKeys } = threadNamesOf(deps.vendors)
  const isAnyOf = ({ all, callIds, traceIds, threadIds }: HeldKeys) =>
    all || callIds.size + traceIds.size + threadIds.size > 0
  const of = async (projectId: string): Promise<ReadonlySet<string> | 'all'> => {
    const held = heldOf(projectId)
    if (held.all) return 'all'
    const ids = new Set(held.callIds)
    if (held.traceIds.size + held.threadIds.size > 0) {
      const names = { traces: [...held.traceIds], threads: [...held.threadIds] }
      const query = statement('held.calls', { project: projectId, ...names, limit: most + 1 })
      for (const { id } of await store.rows<{ id: string }>(query, background)) ids.add(id)
    }
    return ids.size > most ? 'all' : ids
  }
  return {
    isAny: (projectId) => isAnyOf(heldOf(projectId)),
    of,
    async rows(projectId) {
      const ids = await of(projectId)
      if (ids === 'all') return ids
      return { ...(await readHeldRows(store, projectId, ids, heldOf(projectId))), threadNames, threadPaths, threadKeys }
    },
  }
}

/** Log records that are calls of prompts, whose ids are others: by their own ids, those of some calls. */
export async function promptsOf(
  store: Pick<Store, 'rows'>,
  projectId: string,
  calls: Pick<ReadonlySet<string>, 'has'>,
): Promise<Map<string, string>> {
  const named = { project: projectId, names: turnAttributes, events: promptEventNames }
  const rows = await store.rows<{ id: string; said: string[] }>(statement('log-prompts', named), background)
  const found = new Map(rows.map(({ id, said }) => [id, turnIdOfSaid(said)]))
  return new Map([...found].filter(([, call]) => calls.has(call)))
}

/** Held rows, as parameters of statements. */
export type HeldRows = {
  ids: string[]
  traces: string[]
  /** As `spanKey` names them. */
  spans: string[]
  /** Keys by which the calls are found, and when they start. */
  keys: string[]
  times: number[]
  /** Log records that are held calls of prompts. */
  prompts: string[]
  /** Traces that the holds name: log records may name them alone. */
  heldTraces: string[]
  heldThreads: string[]
  threadNames: string[]
  threadPaths: string[]
  threadKeys: string[]
}

/**
 * Condition that a log record is held: with the call of its span, or that it is itself; one without a span with any call of
 * its trace; and what names a held trace or thread.
 */
export const heldRecord = `(
  (trace_id IN {traces:Array(String)} AND (span_id = '' OR concat(trace_id, ' ', span_id) IN {spans:Array(String)}))
  OR id IN {ids:Array(String)} OR id IN {prompts:Array(String)} OR trace_id IN {heldTraces:Array(String)}
  OR (notEmpty({heldThreads:Array(String)}) AND ${recordNames(String.raw, {
    names: '{threadNames:Array(String)}',
    paths: '{threadPaths:Array(String)}',
    keys: '{threadKeys:Array(String)}',
    values: '{heldThreads:Array(String)}',
  })}))`

async function readHeldRows(
  store: Pick<Store, 'rows'>,
  projectId: string,
  ids: ReadonlySet<string>,
  { traceIds, threadIds }: Pick<HeldKeys, 'traceIds' | 'threadIds'>,
): Promise<Omit<HeldRows, 'threadNames' | 'threadPaths' | 'threadKeys'>> {
  const named = [...ids]
  const rows = await store.rows<{ id: string; trace_id: string; parent_id: string; us: string }>(
    statement('held.rows', { project: projectId, ids: named }),
    background,
  )
  const distinct = <T>(all: T[]) => [...new Set(all)]
  return {
    ids: named,
    traces: distinct(rows.map(({ trace_id }) => trace_id)).filter(Boolean),
    spans: rows.map(({ trace_id, id }) => `${trace_id} ${id}`),
    keys: distinct(rows.flatMap(({ id, trace_id, parent_id }) => [id, trace_id, parent_id])).filter(Boolean),
    times: distinct(rows.map(({ us }) => Number(us))),
    prompts: ids.size === 0 ? [] : [...(await promptsOf(store, projectId, ids)).keys()],
    heldTraces: [...traceIds],
    heldThreads: [...threadIds],
  }
}
