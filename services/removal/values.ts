// Takes what the field index has of erased payloads out of its files. Rows of other tables are deleted and their files
// written later; here a row has values of many calls, so the files are written again without some of its values: deriving
// them anew costs many times as much.
import { rangesOfHours, type TimeRange } from '../derived/time-range.ts'
import { change, type Engine, find, slices } from './engine.ts'
import { valuePlaces } from './places.ts'

/** Times that one statement names. */
const timesAtOnce = 50_000

const ofProjects = 'project_id IN {projects:Array(String)} AND most >= {least:Int64} AND least <= {most:Int64}'
const stays = 'us NOT IN {times:Array(Int64)}'

/** @param lists of a row that have an entry for each of its times, or none */
const assignmentsOf = (lists: readonly string[]): string =>
  [
    `at = arrayFilter(us -> ${stays}, at)`,
    ...lists.map((name) => `${name} = arrayFilter((one, us) -> ${stays}, ${name}, arrayResize(at, length(${name})))`),
  ].join(', ')

/** Rows that are derived from calls in the background. */
export type DerivedRows = {
  /** Runs a job between two derivations of the field index. */
  betweenDerivations<T>(job: () => Promise<T>): Promise<T>
  /** Makes the counters and indexed values of a range of time due. */
  recount(range: TimeRange): Promise<void>
}

/** Makes what is derived of some hours due. @param hours in seconds */
export async function recountHours({ recount }: Pick<DerivedRows, 'recount'>, hours: readonly number[]): Promise<void> {
  for (const range of rangesOfHours(hours)) await recount(range)
}

async function removeAt(deps: Engine & DerivedRows, projects: string[], times: number[]): Promise<void> {
  const params = { projects, times, least: times[0], most: times.at(-1) }
  const shared = await find<{ hour: number }>(deps, 'erasure.shared-times', params)
  const hours = shared.map(({ hour }) => hour)
  // Before: a try that breaks off leaves nothing unindexed that no reader looks for.
  await recountHours(deps, hours)
  for (const { table, lists } of valuePlaces) {
    const months = await find<{ month: string }>(deps, 'erasure.months-of-values', params, { table })
    for (const { month } of months)
      await change(deps, 'erasure.values', params, { table, month, ofProjects, assignments: assignmentsOf(lists) })
  }
  // After: another process may have looked meanwhile, and found it indexed.
  await recountHours(deps, hours)
}

/**
 * After the payloads: of those that stay what lies at the same times is derived anew, in whichever of the projects.
 * @param erased times of erased payloads, in microseconds, by project
 */
export async function removeValues(
  deps: Engine & DerivedRows,
  erased: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<void> {
  const times = [...new Set([...erased.values()].flatMap((own) => [...own]))].sort((a, b) => a - b)
  for (const some of slices(times, timesAtOnce))
    await deps.betweenDerivations(() => removeAt(deps, [...erased.keys()], some))
}
