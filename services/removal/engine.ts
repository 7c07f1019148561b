// The engine of removal: finds rows, deletes them partition by partition, and takes the bytes of deleted rows out of the
// files. Selectors say which rows (by ids: erasures.ts, by age: purge.ts, by project: round.ts), places.ts in which tables.
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { type Budget, unlimited } from '../derived/budget.ts'

export type Engine = { store: Pick<Store, 'rows' | 'command'>; budget?: Budget }
/** An engine that finds, and leaves the deleting to others. */
export type Finder = { store: Pick<Store, 'rows'>; budget?: Budget }

/** Rows of a table for which a condition holds; `month` = of one partition alone. */
export type Place = { table: string; where: string; month?: string }

/** Values that a condition names. */
export type Named = Readonly<Record<string, unknown>>

/** A partition of a table: `202603`, or `all`. */
type Partition = { table: string; id: string }

const background = { pool: 'background', timeoutMs: 600_000 } as const

/** Ids, calls or digests that one statement names. */
export const atOnce = 5_000

export function* slices<Item>(items: readonly Item[], size = atOnce): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** Rows of a statement. @param parts stand for `${name}` in it */
export const find = <Row>(
  { store, budget = unlimited }: Finder,
  name: string,
  params: Named = {},
  parts: Readonly<Record<string, string>> = {},
): Promise<Row[]> => budget.run(() => store.rows<Row>(statement(name, params, parts), background))

export const change = (
  { store, budget = unlimited }: Engine,
  name: string,
  params: Named = {},
  parts: Readonly<Record<string, string>> = {},
): Promise<void> => budget.run(() => store.command(statement(name, params, parts), { background: true }))

/** The text of a statement that is part of others. */
export const sqlOf = (name: string, parts: Readonly<Record<string, string>> = {}): string =>
  statement(name, {}, parts).sql

/** Removes rows of some projects, partition by partition: files of others are not touched. @returns how many, by project */
export async function removeRows(
  engine: Engine,
  { table, where, month }: Place,
  projects: readonly string[],
  named: Named,
): Promise<Map<string, number>> {
  const params = { projects, ...named }
  const partition = month === undefined ? '1' : '_partition_id = {month:String}'
  const found = await find<{ month: string; project_id: string; n: string }>(
    engine,
    'erasure.months',
    month === undefined ? params : { ...params, month },
    { table, where, partition },
  )
  for (const id of new Set(found.map((one) => one.month)))
    await change(engine, 'erasure.rows', params, { table, month: id, where })
  const counts = new Map<string, number>()
  for (const { project_id, n } of found) counts.set(project_id, (counts.get(project_id) ?? 0) + Number(n))
  return counts
}

export const partitionsOf = (engine: Finder, tables: readonly string[]): Promise<Partition[]> =>
  find(engine, 'partitions', { tables })

export async function dropPartitions(engine: Engine, partitions: readonly Partition[]): Promise<void> {
  for (const one of partitions) await change(engine, 'partitions.drop', {}, one)
}

/** Partitions whose files hold deleted rows: others need no look into their rows. */
export const maskedPartitions = (engine: Finder, tables: readonly string[]): Promise<Partition[]> =>
  find(engine, 'erasure.removed', { tables })

/** Writes the files of a partition again without its deleted rows. */
export const rewritePartition = (engine: Engine, { table, id }: Partition): Promise<void> =>
  change(engine, 'erasure.rewrite', {}, { table, month: id })
