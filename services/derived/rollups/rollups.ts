// Keeps the rollups of calls: recomputed for dirty minutes, never incremented.
import { createGroup, type Rollups, type RollupsDeps } from './group.ts'
import { rollupTable } from './rollup-table.ts'

/** Keeps rollups. Slow ones are recomputed beside the others, which do not wait for them. */
export function createRollups(deps: RollupsDeps): Rollups {
  const { table = rollupTable } = deps
  const [first, ...others] = [false, true]
    .map((isSlow) => table.filter((rollup) => Boolean(rollup.isSlow) === isSlow))
    .filter((group) => group.length > 0)
    .map((group, _, groups) => createGroup(deps, group, groups.flat()))
  if (first === undefined) throw new Error('no rollups')
  const groups = [first, ...others]
  return {
    onDirty() {
      for (const group of groups) group.onDirty()
    },
    lag: () => groups.flatMap((group) => group.lag()),
    lateness: () => Math.max(...groups.map((group) => group.lateness())),
    async refresh() {
      // Slow ones first: the others drop the dirty buckets that all of them cover.
      for (const group of groups.toReversed()) await group.refresh()
    },
    exclusive: (job) =>
      others.reduce(
        (inner, group) => () => group.exclusive(inner),
        () => first.exclusive(job),
      )(),
    async stop() {
      await Promise.all(groups.map((group) => group.stop()))
    },
  }
}
