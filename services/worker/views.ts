// Checks that the views that fill the tables exist. Without one, rows of its topic would count as applied although they
// are not in every table.
import { landingsOf } from '../core/log/topic.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { topics } from '../events/registry.ts'
import { scratchTables, tableViews } from '../tables/registry.ts'
import { Held } from './split/held.ts'

/**
 * Names of the views by the topic whose rows reach them, directly or through another table. Leaves out views on a worker's
 * own scratch tables, which its store creates on demand.
 */
export function declaredViews(): Map<string, string[]> {
  const views = tableViews.filter(({ name }) => !scratchTables.includes(name))
  const fedBy = (table: string): string[] =>
    views.filter(({ source }) => source === table).flatMap(({ name, target }) => [name, ...fedBy(target)])
  return new Map(Object.values(topics).map((topic) => [topic.name, [...new Set(landingsOf(topic).flatMap(fedBy))]]))
}

/** The views that the database lacks. On a cluster this is what the connected node has. */
export async function missingViews(store: Pick<Store, 'rows'>, names: readonly string[]): Promise<string[]> {
  const rows = await store.rows<{ name: string }>(statement('views.there', { names }))
  const there = new Set(rows.map(({ name }) => name))
  return names.filter((name) => !there.has(name))
}

export type Views = {
  /** Checks the topic's views between the insert and the commit, unless checked a moment ago. @throws Held when one is missing */
  check(topic: string): Promise<void>
  /** Checks all topics without throwing. */
  look(): Promise<void>
  /** Whether a view of the topic was missing at the last check. */
  isGone(topic: string): boolean
  /** The missing views, as a public message. */
  problem(): string | undefined
}

const text = (names: readonly string[]): string =>
  `the database lacks the view ${names.join(', ')}: rows wait until it is made again (docs/operate/troubleshooting.md)`

/** @param trustMs how long a successful check stays valid */
export function createViews(store: Pick<Store, 'rows'>, trustMs: number): Views {
  const declared = declaredViews()
  const gone = new Map<string, string[]>()
  const seenAt = new Map<string, number>()
  const note = (topic: string, names: string[]): void => {
    seenAt.set(topic, performance.now())
    if (names.length === 0) gone.delete(topic)
    else gone.set(topic, names)
  }
  return {
    async check(topic) {
      if (!gone.has(topic) && performance.now() - (seenAt.get(topic) ?? Number.NEGATIVE_INFINITY) < trustMs) return
      const names = await missingViews(store, declared.get(topic) ?? [])
      note(topic, names)
      if (names.length > 0) throw new Held(text(names))
    },
    async look() {
      const names = new Set(await missingViews(store, [...declared.values()].flat()))
      for (const [topic, views] of declared)
        note(
          topic,
          views.filter((name) => names.has(name)),
        )
    },
    isGone: (topic) => gone.has(topic),
    problem() {
      const [first] = gone
      return first && `${first[0]}: ${text(first[1])}`
    },
  }
}
