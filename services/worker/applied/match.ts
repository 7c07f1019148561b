// Matches the log with the tables at the start, or refuses it with the choices that an operator has.
import type { Log, Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { tablesOfKind } from '../../tables/registry.ts'
import { adopt, lowerCover, recountAll, register } from './adopt.ts'
import { type ComparedState, compare, LogMismatch } from './compare.ts'
import { type Applied, type AppliedRow, acknowledgeMissing, readApplied, writeApplied, writeMissing } from './table.ts'

type MatchDeps = {
  log: Log
  store: Pick<Store, 'rows' | 'command'>
  /** Name of the tables' database. */
  database: string
  /** Whether this process writes what is new into the tables. */
  applies: boolean
  /** The operator takes the tables as they are. */
  adopts: boolean
  /** Milliseconds since 1970 at which a record that the log holds was accepted. */
  acceptedMs(record: Position): Promise<number>
  onNote(fields: Record<string, unknown>, message: string): void
}

/** Tables that hold rows before anything was accepted, or that follow from others. */
const notFilled = tablesOfKind('applied', 'cover', 'dirty')

async function tablesOf({ store, database }: Pick<MatchDeps, 'store' | 'database'>): Promise<ComparedState['tables']> {
  const filled = await store.rows(statement('applied.filled', { database, others: notFilled }))
  const covered = await store.rows<{ partition: number; position: number }>(statement('applied.covered'))
  return {
    areEmpty: filled.length === 0,
    covered: new Map(covered.map(({ partition, position }) => [Number(partition), Number(position)])),
  }
}

const committedOf = async (log: Pick<Log, 'committed' | 'topics'>): Promise<Position[]> =>
  (await Promise.all(log.topics.map((topic) => log.committed(topic)))).flat()

async function compared(deps: MatchDeps) {
  const { log, store } = deps
  // In this order, as other processes continue meanwhile: what is read later may only be further.
  const applied = await readApplied(store)
  const tables = applied.size === 0 ? await tablesOf(deps) : { areEmpty: false, covered: new Map() }
  const committed = await committedOf(log)
  const identities = await log.identity()
  return { applied, identities, ...compare({ identities, committed, applied, tables }) }
}

/** Records what the comparison found, before anything is applied. */
async function recordComparison(deps: MatchDeps, found: Awaited<ReturnType<typeof compared>>): Promise<void> {
  const { store, acceptedMs, adopts, onNote } = deps
  const { fresh, missing, identities } = found
  const ranges = []
  for (const range of missing) {
    const { topic, partition, last } = range
    const kept = identities.find((one) => one.topic === topic)?.kept.find((one) => one.partition === partition)
    const isAny = kept !== undefined && kept.end > last
    const beforeMs = isAny ? await acceptedMs({ topic, partition, offset: last + 1 }) : Date.now()
    ranges.push({ ...range, beforeMs })
    onNote(range, 'records are neither in the tables nor in the log any more')
  }
  if (ranges.length > 0) await writeMissing(store, ranges)
  if (adopts) await acknowledgeMissing(store)
  if (fresh.length > 0) await register(store, fresh, true)
}

/** Positions that the tables hold of the log that is there. */
export const positionsOf = (applied: Applied): Position[] =>
  [...applied].flatMap(([topic, { positions }]) =>
    [...positions].map(([partition, offset]) => ({ topic, partition, offset })),
  )

export type Matched = {
  /** State that the tables remember; empty when this process only reads and none has applied anything yet. */
  applied: Applied
  /** Positions that were committed, of partitions of which the tables may not hold so much. */
  behind: Position[]
}

/**
 * Must be called before anything is applied or removed. Afterwards the log delivers what the tables lack.
 * @throws LogMismatch with a line for the operator
 */
export async function matchLog(deps: MatchDeps): Promise<Matched> {
  const { log, store, applies, adopts, onNote } = deps
  const found = await compared(deps)
  if (found.mismatch && !(adopts && applies)) throw found.mismatch
  const isUnready = [...found.applied.values()].some(({ isReady }) => !isReady)
  if (!applies) {
    if (isUnready) throw new LogMismatch('the tables are being given to another log: start callhouse worker first')
    return { applied: found.applied, behind: await behindOf(log, found.applied) }
  }
  if (found.mismatch) {
    await adopt(log, store)
    onNote({ was: found.mismatch.message }, 'the tables were given to this log')
  } else {
    if (isUnready) await recountAll(store)
    await recordComparison(deps, found)
    if (isUnready) await writeApplied(store, rowsOf(found.applied))
  }
  const applied = await readApplied(store)
  await log.beginAfter(async () => positionsOf(await readApplied(store)))
  log.remembered(positionsOf(applied))
  await lowerCover(store, applied)
  return { applied, behind: await behindOf(log, applied) }
}

async function behindOf(log: Log, applied: Applied): Promise<Position[]> {
  const committed = await committedOf(log)
  return committed.filter(({ topic, partition, offset }) => {
    const known = applied.get(topic)
    return known !== undefined && offset > (known.positions.get(partition) ?? 0)
  })
}

const rowsOf = (applied: Applied): AppliedRow[] =>
  [...applied].flatMap(([topic, { ids, generation, positions }]) =>
    [...positions].map(([partition, offset]) => ({ topic, id: ids[0] as string, generation, partition, offset })),
  )
