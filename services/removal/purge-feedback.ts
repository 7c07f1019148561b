// Feedback goes with the calls that it is about: with those that retention hides, and with its own age where its call is
// not known any more.
import { atOnce, type Engine, find, removeRows } from './engine.ts'
import type { HeldCalls } from './held-calls.ts'

type Item = { id: string; call: string; weave_ref: string; isOld: number }

/** Tables of feedback; the rows by which items are found go last. */
const tables = ['feedback_by_ref', 'feedback']
const where = 'id IN {ids:Array(String)} AND weave_ref IN {refs:Array(String)}'

export async function projectsWithFeedback(engine: Engine): Promise<string[]> {
  const rows = await find<{ project_id: string }>(engine, 'purge.feedback-projects')
  return rows.map(({ project_id }) => project_id)
}

/** Reads the next items about calls, in the order of their ids. */
const itemsOf = (engine: Engine, project: string, after: string, before: number): Promise<Item[]> =>
  find<Item>(engine, 'purge.feedback', { project, lead: `weave:///${project}/call/`, after, before, limit: atOnce })

/** Reads when the calls of some items start, as far as they are stored. */
async function startsOf(engine: Engine, project: string, items: readonly Item[]): Promise<Map<string, number>> {
  const ids = [...new Set(items.map(({ call }) => call))]
  const rows = await find<{ id: string; us: string }>(engine, 'purge.feedback-calls', { project, ids })
  return new Map(rows.map(({ id, us }) => [id, Number(us)]))
}

/** @param beforeUs from which hour on calls are seen @returns how many items were removed */
export async function purgeFeedback(
  engine: Engine,
  held: HeldCalls,
  projectId: string,
  beforeUs: number,
  isStopped: () => boolean,
): Promise<number> {
  let count = 0
  for (let after = ''; !isStopped(); ) {
    const items = await itemsOf(engine, projectId, after, beforeUs)
    if (items.length === 0) break
    const starts = await startsOf(engine, projectId, items)
    const ids = await held.of(projectId)
    if (ids === 'all') break
    const gone = items.filter(({ call, isOld }) => {
      if (ids.has(call)) return false
      const us = starts.get(call)
      return us === undefined ? isOld === 1 : us < beforeUs
    })
    if (gone.length > 0 && !isStopped()) {
      const named = { ids: gone.map(({ id }) => id), refs: [...new Set(gone.map(({ weave_ref }) => weave_ref))] }
      for (const table of tables) await removeRows(engine, { table, where }, [projectId], named)
      count += gone.length
    }
    after = items.at(-1)?.id as string
  }
  return count
}
