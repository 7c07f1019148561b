// Removes what is derived of hidden calls where some of these are held: counters, statistics and indexed values. The
// data of removed calls is gone with their row, and hours with calls that stay are derived anew of these.
import type { Cutoffs } from '../core/process/running-handler.ts'
import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import { rangesOfHours, type TimeRange } from '../derived/time-range.ts'
import { tables } from '../tables/registry.ts'
import type { RowRemoval } from './remove-rows.ts'

/** After the calls themselves. @returns rows that were removed, by table */
export type DerivedPurge = (
  projectId: string,
  held: ReadonlySet<string>,
  cutoffs: Cutoffs,
) => Promise<ReadonlyMap<string, number>>

type DerivedPurgeDeps = {
  store: Pick<Store, 'rows'>
  budget: Budget
  remove: RowRemoval['remove']
  /** Runs a job between two derivations of the field index. */
  betweenDerivations<T>(job: () => Promise<T>): Promise<T>
  /** Makes the counters and indexed values of a range of time due. */
  recount(range: TimeRange): Promise<void>
}

/** Counters and statistics, with the column that is a time in an hour. */
const countersOf = (of: 'calls' | 'stats'): { table: string; hour: string }[] =>
  tables.flatMap(({ name, kind, purged }) =>
    kind === 'rollup' && typeof purged === 'object' && purged.of === of ? [{ table: name, hour: purged.by }] : [],
  )

const chunksAtOnce = 5_000
const background = { pool: 'background', timeoutMs: 600_000 } as const

export function createDerivedPurge(deps: DerivedPurgeDeps): DerivedPurge {
  const { store, budget, remove, betweenDerivations, recount } = deps
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))

  const recountHours = async (hours: readonly number[]): Promise<void> => {
    for (const range of rangesOfHours(hours)) await recount(range)
  }

  /** Hours before a time that have held calls, with what their counters are to say and what they say. */
  async function hoursOf(projectId: string, held: ReadonlySet<string>, beforeUs: number) {
    const params = { project: projectId, ids: [...held], before: beforeUs }
    const rows = await read<{ hour: number; calls: number; counted: number }>(statement('purge.held-hours', params))
    return rows.map(({ hour, calls, counted }) => ({ hour: Number(hour), isRight: Number(calls) === Number(counted) }))
  }

  /** Rows of hours that have no held calls, or are counted anew. */
  const removeHours = (table: string, hour: string, projectId: string, beforeUs: number, stay: readonly number[]) =>
    remove(
      {
        table,
        where: `toUnixTimestamp(${hour}) < ${Math.floor(beforeUs / 1e6)}
          AND toUnixTimestamp(toStartOfHour(${hour})) NOT IN {hours:Array(UInt32)}`,
      },
      projectId,
      { hours: stay },
    )

  async function purgeCounters(
    projectId: string,
    held: ReadonlySet<string>,
    { callsUs, statsUs }: Cutoffs,
    removed: Map<string, number>,
  ): Promise<void> {
    const hidden = callsUs === undefined ? [] : await hoursOf(projectId, held, callsUs)
    const wrong = hidden.filter(({ isRight }) => !isRight).map(({ hour }) => hour)
    if (callsUs !== undefined) {
      const stay = hidden.filter(({ isRight }) => isRight).map(({ hour }) => hour)
      for (const { table, hour } of countersOf('calls'))
        removed.set(table, await removeHours(table, hour, projectId, callsUs, stay))
    }
    if (statsUs !== undefined) {
      const hours = (await hoursOf(projectId, held, statsUs)).map(({ hour }) => hour)
      // Those that go further than calls are not counted again: they stay as they are.
      const isLonger = callsUs !== undefined && statsUs < callsUs
      const stay = isLonger ? hours : hours.filter((hour) => !wrong.includes(hour))
      for (const { table, hour } of countersOf('stats'))
        removed.set(table, await removeHours(table, hour, projectId, statsUs, stay))
    }
    // Last: until they are counted such hours lack their row, by which they are found again.
    await recountHours(wrong)
  }

  /** Groups with values of payloads that are gone go whole. */
  async function purgeValues(projectId: string, beforeUs: number, removed: Map<string, number>): Promise<void> {
    const params = { project: projectId, before: beforeUs }
    const groups = await read<{ chunk: string }>(statement('purge.mixed-groups', params))
    for (let i = 0; i < groups.length; i += chunksAtOnce)
      for (const table of ['payload_leaves', 'payload_chunks']) {
        const chunks = groups.slice(i, i + chunksAtOnce).map(({ chunk }) => chunk)
        const rows = await remove({ table, where: 'chunk IN {chunks:Array(UInt64)}' }, projectId, { chunks })
        removed.set(table, (removed.get(table) ?? 0) + rows)
      }
    const hours = await read<{ hour: number }>(statement('purge.hours-to-index', params))
    await recountHours(hours.map(({ hour }) => Number(hour)))
  }

  return async (projectId, held, cutoffs) => {
    const removed = new Map<string, number>()
    await purgeCounters(projectId, held, cutoffs, removed)
    const valuesUs = cutoffs.payloadsUs ?? cutoffs.callsUs
    if (valuesUs !== undefined) await betweenDerivations(() => purgeValues(projectId, valuesUs, removed))
    return removed
  }
}
