// Isolates the rows that the store refuses, so that one bad row costs one dead letter and not a batch.
import { type Store, StoreError } from '../core/store/store.ts'
import { type TopicName, topics } from '../core/topics.ts'
import type { DeadLetters } from './deadletters.ts'
import { Held } from './held.ts'
import { type SegmentRow, withoutHeader } from './segment-rows.ts'

const newline = Buffer.from('\n')

/** More refused rows of one batch are a fault of the tables or of the edge, which someone has to mend. */
const maxDeadRows = 100
/** So many refusals and nothing that is taken say that the tables take nothing. */
const enoughRefusals = 10

/** True when the error says that the rows can never be inserted. */
export const isDataError = (error: unknown): error is StoreError => error instanceof StoreError && error.kind === 'data'

/** Bytes of some rows as a source of their own. */
export const sourceOf = (rows: SegmentRow[]): { bytes: Buffer[] } => ({
  bytes: rows.flatMap((row) => [row.text, newline]),
})

type Refusal = { row: SegmentRow; reason: string; isOfRow: boolean }

/** Edges write no field that the tables of their build do not have. */
const isUnknownField = (reason: string): boolean => reason.startsWith('Unknown field')
/** The engine stopped while it read the row's text; what a view refuses may be the view's fault. */
const isOfRow = (reason: string): boolean => /\(at row \d+\)/.test(reason)

/**
 * Inserts rows; when the store refuses them, in halves until each refused row stands alone. Those become dead letters.
 * Rows that went in twice on the way change nothing. Outages are thrown, to be retried by the caller.
 * @param deps.control whether rows that were applied before still go in; without it every refused row is a dead letter
 * @returns number of dead letters
 * @throws Held when it is not the rows that are at fault; no row is a dead letter then
 */
export async function insertAround(
  topicName: TopicName,
  all: SegmentRow[],
  deps: {
    store: Pick<Store, 'insert'>
    deadLetters: Pick<DeadLetters, 'add'>
    control?: () => Promise<'taken' | 'refused' | 'unknown'>
  },
): Promise<number> {
  const { store, deadLetters, control } = deps
  const refused: Refusal[] = []
  let hasTaken = false
  let known: 'taken' | 'refused' | 'unknown' | undefined

  /** Throws when what is known so far says that the tables are at fault. */
  const suspectTables = async (code: number, reason: string): Promise<void> => {
    if (!control) return
    const told = code === 0 ? '' : ` (code ${code})`
    if (isUnknownField(reason))
      throw new Held(
        `rows have a field that the tables have not${told}; an upgrade may be unfinished; rows wait`,
        reason,
      )
    known ??= await control()
    const isProven = hasTaken || known === 'taken'
    const isSuspect = !isProven && refused.some((one) => !one.isOfRow)
    if (known === 'refused' || (isSuspect && (refused.length >= enoughRefusals || refused.length === all.length)))
      throw new Held(`the database refuses every row${told}; a view or an upgrade may be unfinished; rows wait`, reason)
    if (refused.length > maxDeadRows)
      throw new Held(`the database refuses more than ${maxDeadRows} rows of one batch${told}; rows wait`, reason)
  }

  const insert = async (rows: SegmentRow[]): Promise<void> => {
    const [only] = rows
    if (!only) return
    let reason: string
    let code = 0
    try {
      const { rowsRead } = await store.insert(topics[topicName], sourceOf(rows))
      if (rowsRead === rows.length) {
        hasTaken = true
        return
      }
      reason = `the engine read ${rowsRead} rows where ${rows.length} were appended`
    } catch (error) {
      if (!isDataError(error)) throw error
      ;({ code, message: reason } = error)
    }
    if (rows.length === 1) refused.push({ row: only, reason, isOfRow: isOfRow(reason) })
    await suspectTables(code, reason)
    if (rows.length === 1) return
    const half = rows.length >> 1
    await insert(rows.slice(0, half))
    await insert(rows.slice(half))
  }
  await insert(all)
  for (const { row, reason } of refused)
    await deadLetters.add({
      ...{ topic: topicName, partition: row.partition, offset: row.offset, rowIndex: row.rowIndex },
      reason: reason.slice(0, 2000),
      row: withoutHeader(row.text),
    })
  return refused.length
}
