// Finds the held calls of a project in the tables at that moment: everything that removes rows leaves them out.
import { type HeldKeys, mostHeldCalls } from '../core/directory/holds.ts'
import { promptEventNames, turnAttributes, turnIdOfSaid } from '../events/gen-ai-events.ts'
import { recordNames, threadNamesOf } from '../events/record-names.ts'
import { type Finder, find } from './engine.ts'

export type HeldCalls = {
  /** Whether anything of a project is held: without a look into tables. */
  isAny(projectId: string): boolean
  /** Ids of the calls that are held; 'all' = everything of the project stays. */
  of(projectId: string): Promise<ReadonlySet<string> | 'all'>
  /** Rows of held calls that are found by other columns than ids of calls, 'all' as well. */
  rows(projectId: string): Promise<HeldRows | 'all'>
}

export function createHeldCalls(
  deps: Finder & {
    /** Holds of a project, from the directory. */
    heldOf(projectId: string): HeldKeys
    /** Namespaces of attributes, one of which may name a thread. */
    vendors: readonly string[]
    /** Number of held calls from which on the whole project is held. */
    most?: number
  },
): HeldCalls {
  const { heldOf, most = mostHeldCalls } = deps
  const { names: threadNames, paths: threadPaths, keys: threadKeys } = threadNamesOf(deps.vendors)
  const isAnyOf = ({ all, callIds, traceIds, threadIds }: HeldKeys) =>
    all || callIds.size + traceIds.size + threadIds.size > 0
  const of = async (projectId: string): Promise<ReadonlySet<string> | 'all'> => {
    const held = heldOf(projectId)
    if (held.all) return 'all'
    const ids = new Set(held.callIds)
    if (held.traceIds.size + held.threadIds.size > 0) {
      const names = { traces: [...held.traceIds], threads: [...held.threadIds] }
      const params = { project: projectId, ...names, limit: most + 1 }
      for (const { id } of await find<{ id: string }>(deps, 'held.calls', params)) ids.add(id)
    }
    return ids.size > most ? 'all' : ids
  }
  return {
    isAny: (projectId) => isAnyOf(heldOf(projectId)),
    of,
    async rows(projectId) {
      const ids = await of(projectId)
      if (ids === 'all') return ids
      return { ...(await readHeldRows(deps, projectId, ids, heldOf(projectId))), threadNames, threadPaths, threadKeys }
    },
  }
}

/** Log records that are calls of prompts, whose ids are others: by their own ids, those of some calls. */
export async function promptsOf(
  finder: Finder,
  projectId: string,
  calls: Pick<ReadonlySet<string>, 'has'>,
): Promise<Map<string, string>> {
  const named = { project: projectId, names: turnAttributes, events: promptEventNames }
  const rows = await find<{ id: string; said: string[] }>(finder, 'log-prompts', named)
  const found = new Map(rows.map(({ id, said }) => [id, turnIdOfSaid(said)]))
  return new Map([...found].filter(([, call]) => calls.has(call)))
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

/** The filter of removals of a project: parameters, and conditions on calls and on log records that are held. */
export type LeftOut = { params: HeldRows | Pick<HeldRows, 'ids'>; heldCall: string; heldRecord: string }

export const nothingHeld: LeftOut = { params: { ids: [] }, heldCall: '0', heldRecord: '0' }

/** Builds the filter of a project from what is held at this moment; null = everything is. */
export async function leftOut(held: HeldCalls, projectId: string): Promise<LeftOut | null> {
  if (!held.isAny(projectId)) return nothingHeld
  const params = await held.rows(projectId)
  return params === 'all' ? null : { params, heldCall: 'id IN {ids:Array(String)}', heldRecord }
}

/** Reads held rows, as parameters of statements. */
async function readHeldRows(finder: Finder, projectId: string, calls: ReadonlySet<string>, holds: HeldKeys) {
  const ids = [...calls]
  const params = { project: projectId, ids }
  const rows = await find<Record<'id' | 'trace_id' | 'parent_id' | 'us', string>>(finder, 'held.rows', params)
  const distinct = <T>(all: T[]) => [...new Set(all)]
  return {
    ids,
    traces: distinct(rows.map(({ trace_id }) => trace_id)).filter(Boolean),
    /** As `spanKey` names them. */
    spans: rows.map(({ trace_id, id }) => `${trace_id} ${id}`),
    /** Keys by which the calls are found, and when they start. */
    keys: distinct(rows.flatMap(({ id, trace_id, parent_id }) => [id, trace_id, parent_id])).filter(Boolean),
    times: distinct(rows.map(({ us }) => Number(us))),
    /** Log records that are held calls of prompts. */
    prompts: calls.size === 0 ? [] : [...(await promptsOf(finder, projectId, calls)).keys()],
    /** Traces that the holds name: log records may name them alone. */
    heldTraces: [...holds.traceIds],
    heldThreads: [...holds.threadIds],
  }
}

type HeldRows = Awaited<ReturnType<typeof readHeldRows>> &
  Record<'threadNames' | 'threadPaths' | 'threadKeys', readonly string[]>
