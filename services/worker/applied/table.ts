// State of the log in the tables: its id, the position of each partition, and records that neither of them holds any
// more.
import type { Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'

/** The log that a topic's tables are filled from. */
type AppliedTopic = {
  /** Grows when the tables are given to another log. */
  generation: number
  /** One; several when logs registered at the same moment. */
  ids: string[]
  /** False while the tables are being given to another log. */
  isReady: boolean
  /** Position of each partition: the tables hold at least so much. */
  positions: Map<number, number>
}

export type Applied = Map<string, AppliedTopic>

export type AppliedRow = Position & { id: string; generation: number }

/** Records that no table and no log holds, and until when they were accepted. */
export type MissingRange = {
  topic: string
  id: string
  partition: number
  first: number
  last: number
  beforeMs: number
}

const aside = { background: true }

export async function readApplied(store: Pick<Store, 'rows'>): Promise<Applied> {
  const rows = await store.rows<AppliedRow & { position: number; isReady: boolean }>(statement('applied-positions'))
  return new Map(
    [...Map.groupBy(rows, ({ topic }) => topic)].map(([topic, of]) => [
      topic,
      {
        generation: Math.max(...of.map(({ generation }) => generation)),
        ids: [...new Set(of.map(({ id }) => id))],
        isReady: of.every(({ isReady }) => isReady),
        positions: new Map(of.map(({ partition, position }) => [Number(partition), Number(position)])),
      },
    ]),
  )
}

/** @param isReady false at the beginning of an adoption; the same rows follow with true */
export const writeApplied = (store: Pick<Store, 'command'>, rows: readonly AppliedRow[], isReady = true) =>
  store.command(
    statement('applied-positions-insert', {
      topics: rows.map(({ topic }) => topic),
      ids: rows.map(({ id }) => id),
      generations: rows.map(({ generation }) => generation),
      partitions: rows.map(({ partition }) => partition),
      positions: rows.map(({ offset }) => offset),
      is_ready: isReady ? 1 : 0,
    }),
    aside,
  )

/** Takes rows of a log back that came too late. */
export const withdrawApplied = (store: Pick<Store, 'command'>, ids: readonly string[]): Promise<void> =>
  store.command(statement('applied.withdraw', { ids }))

export const writeMissing = (store: Pick<Store, 'command'>, ranges: readonly MissingRange[]): Promise<void> =>
  store.command(
    statement('missing-records-insert', {
      topics: ranges.map(({ topic }) => topic),
      ids: ranges.map(({ id }) => id),
      partitions: ranges.map(({ partition }) => partition),
      firsts: ranges.map(({ first }) => first),
      lasts: ranges.map(({ last }) => last),
      befores: ranges.map(({ beforeMs }) => beforeMs),
    }),
    aside,
  )

/** An operator takes the tables as they are. */
export const acknowledgeMissing = (store: Pick<Store, 'command'>): Promise<void> =>
  store.command(statement('missing-records-known'), aside)

/** Missing records, for everyone to read: no paths, no quotes. Undefined when nothing is known to be. */
export async function missingText(store: Pick<Store, 'rows'>, applied: Applied): Promise<string | undefined> {
  const ids = [...applied.values()].flatMap((one) => one.ids)
  const rows = await store.rows<{ topic: string; beforeMs: number }>(statement('missing-records', { ids }))
  const lines = rows.map(
    ({ topic, beforeMs }) =>
      `${topic}: records accepted before ${new Date(Number(beforeMs)).toISOString()} are not in the tables, and some are not in the log any more`,
  )
  return lines.length === 0 ? undefined : lines.join('; ')
}
