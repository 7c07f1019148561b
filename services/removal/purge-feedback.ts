// Feedback goes with the calls that it is about: with those that retention hides, and with its own age where its call is
// not known any more.

import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import type { HeldCalls } from './held-calls.ts'

/** Items that are looked at, and removed, at once. */
const itemsAtOnce = 5_000
const background = { pool: 'background' } as const

type Item = { id: string; call: string; weave_ref: string; isOld: number }

type FeedbackPurge = {
  /** Projects of which there is feedback. */
  projects(): Promise<string[]>
  /** @param beforeUs from which hour on calls are seen @returns how many items were removed */
  purge(projectId: string, beforeUs: number, goesOn: () => boolean): Promise<number>
}

export function createFeedbackPurge(deps: { store: Pick<Store, 'rows' | 'command'>; budget: Budget; held: HeldCalls }) {
  const { store, budget, held } = deps
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))

  /** The next items about calls, in the order of their ids. */
  const itemsOf = (projectId: string, after: string, beforeUs: number): Promise<Item[]> =>
    read<Item>(
      statement('purge.feedback', {
        project: projectId,
        lead: `weave:///${projectId}/call/`,
        after,
        before: beforeUs,
        limit: itemsAtOnce,
      }),
    )

  /** When calls start that are stored. */
  const startsOf = async (projectId: string, ids: readonly string[]): Promise<Map<string, number>> => {
    const rows = await read<{ id: string; us: string }>(
      statement('purge.feedback-calls', { project: projectId, ids: [...new Set(ids)] }),
    )
    return new Map(rows.map(({ id, us }) => [id, Number(us)]))
  }

  const remove = (table: string, projectId: string, items: readonly Item[]): Promise<void> =>
    budget.run(() =>
      store.command(
        statement(
          'purge.feedback-rows',
          {
            project: projectId,
            ids: items.map(({ id }) => id),
            refs: [...new Set(items.map(({ weave_ref }) => weave_ref))],
          },
          { table },
        ),
        { background: true },
      ),
    )

  return {
    async projects() {
      const rows = await read<{ project_id: string }>(statement('purge.feedback-projects'))
      return rows.map(({ project_id }) => project_id)
    },
    async purge(projectId, beforeUs, goesOn) {
      let count = 0
      for (let after = ''; goesOn(); ) {
        const items = await itemsOf(projectId, after, beforeUs)
        if (items.length === 0) break
        const starts = await startsOf(
          projectId,
          items.map(({ call }) => call),
        )
        const ids = await held.of(projectId)
        if (ids === 'all') break
        const gone = items.filter(({ call, isOld }) => {
          if (ids.has(call)) return false
          const us = starts.get(call)
          return us === undefined ? isOld === 1 : us < beforeUs
        })
        if (gone.length > 0 && goesOn()) {
          // The rows by which they are found go last.
          await remove('feedback_by_ref', projectId, gone)
          await remove('feedback', projectId, gone)
          count += gone.length
        }
        after = items.at(-1)?.id as string
      }
      return count
    },
  } satisfies FeedbackPurge
}
