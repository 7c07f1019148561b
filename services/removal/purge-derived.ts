// Removes what is derived of hidden calls where some of these are held: counters, statistics and indexed values. The
// data of removed calls is gone with their row, and hours with calls that stay are derived anew of these.
import type { Cutoffs } from '../core/process/running-handler.ts'
import { type Finder, find, slices } from './engine.ts'
import { countersOf, valuePlaces } from './places.ts'
import type { RowRemoval } from './rows.ts'
import { type DerivedRows, recountHours } from './values.ts'

/** After the calls themselves. @returns rows that were removed, by table */
export type DerivedPurge = (
  projectId: string,
  held: ReadonlySet<string>,
  cutoffs: Cutoffs,
) => Promise<ReadonlyMap<string, number>>

type DerivedPurgeDeps = Finder & DerivedRows & { remove: RowRemoval['remove'] }

/** A project's purge. */
type Derived = DerivedPurgeDeps & { projectId: string; held: ReadonlySet<string>; removed: Map<string, number> }

/** Reads hours before a time that have held calls, with what their counters are to say and what they say. */
async function hoursOf(derived: Derived, before: number): Promise<{ hour: number; isRight: boolean }[]> {
  const params = { project: derived.projectId, ids: [...derived.held], before }
  const rows = await find<{ hour: number; calls: number; counted: number }>(derived, 'purge.held-hours', params)
  return rows.map(({ hour, calls, counted }) => ({ hour: Number(hour), isRight: Number(calls) === Number(counted) }))
}

/** Removes rows of hours that have no held calls, or are counted anew. */
async function removeHours(
  { projectId, remove, removed }: Derived,
  of: 'calls' | 'stats',
  beforeUs: number,
  hours: readonly number[],
): Promise<void> {
  for (const { table, hour } of countersOf(of)) {
    const where = `toUnixTimestamp(${hour}) < ${Math.floor(beforeUs / 1e6)}
      AND toUnixTimestamp(toStartOfHour(${hour})) NOT IN {hours:Array(UInt32)}`
    removed.set(table, await remove({ table, where }, projectId, { hours }))
  }
}

async function purgeCounters(derived: Derived, { callsUs, statsUs }: Cutoffs): Promise<void> {
  const hidden = callsUs === undefined ? [] : await hoursOf(derived, callsUs)
  const hoursThat = (isRight: boolean) => hidden.filter((one) => one.isRight === isRight).map(({ hour }) => hour)
  const wrong = hoursThat(false)
  if (callsUs !== undefined) await removeHours(derived, 'calls', callsUs, hoursThat(true))
  if (statsUs !== undefined) {
    const hours = (await hoursOf(derived, statsUs)).map(({ hour }) => hour)
    // Those that go further than calls are not counted again: they stay as they are.
    const isLonger = callsUs !== undefined && statsUs < callsUs
    await removeHours(derived, 'stats', statsUs, isLonger ? hours : hours.filter((hour) => !wrong.includes(hour)))
  }
  // Last: until they are counted such hours lack their row, by which they are found again.
  await recountHours(derived, wrong)
}

/** Removes groups with values of payloads that are gone, whole. */
async function purgeValues(derived: Derived, before: number): Promise<void> {
  const { projectId, remove, removed } = derived
  const params = { project: projectId, before }
  const groups = await find<{ chunk: string }>(derived, 'purge.mixed-groups', params)
  // The rows by which groups are found go last.
  for (const some of slices(groups))
    for (const { table } of valuePlaces.toReversed()) {
      const chunks = some.map(({ chunk }) => chunk)
      const rows = await remove({ table, where: 'chunk IN {chunks:Array(UInt64)}' }, projectId, { chunks })
      removed.set(table, (removed.get(table) ?? 0) + rows)
    }
  const hours = await find<{ hour: number }>(derived, 'purge.hours-to-index', params)
  await recountHours(
    derived,
    hours.map(({ hour }) => Number(hour)),
  )
}

export function createDerivedPurge(deps: DerivedPurgeDeps): DerivedPurge {
  return async (projectId, held, cutoffs) => {
    const derived: Derived = { ...deps, projectId, held, removed: new Map() }
    await purgeCounters(derived, cutoffs)
    const valuesUs = cutoffs.payloadsUs ?? cutoffs.callsUs
    if (valuesUs !== undefined) await deps.betweenDerivations(() => purgeValues(derived, valuesUs))
    return derived.removed
  }
}
