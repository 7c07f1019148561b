// Adopts tables for another log: rollups cover nothing any more, as positions now mean other records.
import type { Log } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { tablesOfKind } from '../../tables/registry.ts'
import { otherLog } from './compare.ts'
import {
  type Applied,
  type AppliedRow,
  acknowledgeMissing,
  readApplied,
  withdrawApplied,
  writeApplied,
} from './table.ts'

/** Readers take dirty buckets before the first position as covered; those at it are counted live until a recompute. */
const firstPosition = { position: 1 }

/** Registers a log before anything else: from then on processes with another log see that the tables are not theirs. */
export async function register(store: Pick<Store, 'rows' | 'command'>, rows: readonly AppliedRow[], isReady: boolean) {
  await writeApplied(store, rows, isReady)
  const applied = await readApplied(store)
  for (const { topic, id } of rows) {
    const known = applied.get(topic)
    if (known === undefined || (known.ids.length === 1 && known.ids[0] === id)) continue
    // Another log registered at the same moment: whoever sees the other one after its own write withdraws.
    await withdrawApplied(store, [...new Set(rows.map((row) => row.id))])
    throw otherLog(
      topic,
      known.ids.filter((one) => one !== id),
      id,
    )
  }
}

/** Marks every stored minute as dirty, so that counts, statistics and the field index are rebuilt. Repeatable. */
export async function recountAll(store: Pick<Store, 'command'>): Promise<void> {
  for (const table of tablesOfKind('cover', 'dirty')) await store.command(statement('truncate', {}, { table }))
  for (const name of ['dirty-buckets-of-calls', 'dirty-buckets-of-payloads'])
    await store.command(statement(name, firstPosition))
}

/** Lowers what rollups cover to what the tables are known to hold: the rest is applied, and counted, again. */
export async function lowerCover(store: Pick<Store, 'rows' | 'command'>, applied: Applied): Promise<void> {
  const held = applied.get('calls')?.positions ?? new Map<number, number>()
  const rows = await store.rows<{ name: string; partition: number; position: number; revision: number }>(
    statement('rollups.positions'),
  )
  const lowered = rows.map((row) => ({
    ...row,
    held: Math.min(Number(row.position), held.get(Number(row.partition)) ?? 0),
  }))
  if (lowered.every((row) => row.held === Number(row.position))) return
  await store.command(statement('truncate', {}, { table: 'rollups' }))
  const params = {
    names: lowered.map(({ name }) => name),
    partitions: lowered.map(({ partition }) => Number(partition)),
    upTo: lowered.map((row) => row.held),
    revision: Math.max(...lowered.map((row) => Number(row.revision))),
  }
  await store.command(statement('rollups-cover', params))
}

/**
 * Adopts the tables for this log, whatever it is; everything that the log holds is applied to them.
 * @throws LogMismatch when another log does the same at this moment
 */
export async function adopt(log: Pick<Log, 'identity' | 'renew'>, store: Pick<Store, 'rows' | 'command'>) {
  await log.renew()
  const known = await readApplied(store)
  const generation = 1 + Math.max(0, ...[...known.values()].map((one) => one.generation))
  const rows = (await log.identity()).flatMap(({ topic, id, kept }) =>
    kept.map(({ partition, first }) => ({ topic, id, partition, generation, offset: first - 1 })),
  )
  await register(store, rows, false)
  await recountAll(store)
  await acknowledgeMissing(store)
  await writeApplied(store, rows)
}
