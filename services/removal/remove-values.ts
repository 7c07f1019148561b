// Takes what the field index has of erased payloads out of its files: their values alone, as those of many calls lie in one
// row and deriving them anew costs many times as much as writing them again.

import { statement } from '../core/store/statements.ts'
import type { Query } from '../core/store/store.ts'
import { rangesOfHours, type TimeRange } from '../derived/time-range.ts'
import { tables } from '../tables/registry.ts'

/** Times that one statement names. */
const timesAtOnce = 50_000

/** Tables of the field index. The note that a payload is indexed goes before its values. */
const indexed = tables.flatMap(({ name, erased }) =>
  erased && 'values' in erased ? [{ table: name, lists: erased.values }] : [],
)

const ofProjects = 'project_id IN {projects:Array(String)} AND most >= {least:Int64} AND least <= {most:Int64}'
const stays = 'us NOT IN {times:Array(Int64)}'

/** @param lists of a row that have an entry for each of its times, or none */
const assignmentsOf = (lists: readonly string[]): string =>
  [
    `at = arrayFilter(us -> ${stays}, at)`,
    ...lists.map((name) => `${name} = arrayFilter((one, us) -> ${stays}, ${name}, arrayResize(at, length(${name})))`),
  ].join(', ')

/** @param erased times of erased payloads, in microseconds, by project */
export type ValueRemoval = (erased: ReadonlyMap<string, ReadonlySet<number>>) => Promise<void>

/** Rows that are derived from calls in the background. */
export type DerivedRows = {
  /** Runs a job between two derivations of the field index. */
  betweenDerivations<T>(job: () => Promise<T>): Promise<T>
  /** Makes the counters and indexed values of a range of time due. */
  recount(range: TimeRange): Promise<void>
}

type ValueRemovalDeps = DerivedRows & {
  read<Row>(query: Query): Promise<Row[]>
  change(query: Query): Promise<void>
}

/** After the payloads: of those that stay what lies at the same times is derived anew, in whichever of the projects. */
export function createValueRemoval({ read, change, betweenDerivations, recount }: ValueRemovalDeps): ValueRemoval {
  async function removeAt(projects: string[], times: number[]): Promise<void> {
    const params = { projects, times, least: times[0], most: times.at(-1) }
    const shared = await read<{ hour: number }>(statement('erasure.shared-times', params))
    const derive = async () => {
      for (const range of rangesOfHours(shared.map(({ hour }) => hour))) await recount(range)
    }
    // Before: a try that breaks off leaves nothing unindexed that no reader looks for.
    await derive()
    for (const { table, lists } of indexed) {
      const months = await read<{ month: string }>(statement('erasure.months-of-values', params, { table }))
      for (const { month } of months)
        await change(
          statement('erasure.values', params, { table, month, ofProjects, assignments: assignmentsOf(lists) }),
        )
    }
    // After: another process may have looked meanwhile, and found it indexed.
    await derive()
  }

  return async (erased) => {
    const projects = [...erased.keys()]
    const times = [...new Set([...erased.values()].flatMap((own) => [...own]))].sort((a, b) => a - b)
    for (let i = 0; i < times.length; i += timesAtOnce)
      await betweenDerivations(() => removeAt(projects, times.slice(i, i + timesAtOnce)))
  }
}
