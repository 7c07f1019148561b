// Isolates the rows that the store refuses, so that one bad row costs one dead letter and not a batch.

import { type Store, StoreError } from '../../core/store/store.ts'
import { topicNamed } from '../../events/registry.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import { Held } from '../held.ts'
import { type SegmentRow, withoutHeader } from './segment-rows.ts'

const newline = Buffer.from('\n')

/** More refused rows of one batch are a fault of the tables or of the edge, which someone has to mend, */
const maxRefusedRows = 100
/** unless rows that were applied before still go in: then this part of the batch. Each costs a statement or two. */
const maxRefusedShare = 0.5
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
/** The engine stopped while it read the text of this row, from 1 on; what a view refuses may be the view's fault. */
const rowOf = (reason: string): number | undefined => {
  const at = /\(at row (\d+)\)/.exec(reason)?.[1]
  return at === undefined ? undefined : Number(at)
}
const isOfRow = (reason: string): boolean => rowOf(reason) !== undefined

/**
 * Inserts rows; when the store refuses them, it goes on after the row that the engine names, or in halves, until each
 * refused row stands alone. Those become dead letters. Rows that went in twice on the way change nothing. Outages are
 * thrown, to be retried by the caller.
 * @param deps.control whether rows that were applied before still go in; without it every refused row is a dead letter
 * @returns number of dead letters
 * @throws Held when it is not the rows that are at fault; no row is a dead letter then
 */
export async function insertWithoutRefused(
  topicName: string,
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
  /** Whether the row that the engine names has always been the one. */
  let namesRows = true

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
    const most = Math.max(maxRefusedRows, known === 'taken' ? Math.floor(all.length * maxRefusedShare) : 0)
    if (refused.length > most)
      throw new Held(`the database refuses more than ${most} rows of one batch${told}; rows wait`, reason)
  }

  /** Undefined when the rows were taken. */
  const refusalOf = async (rows: SegmentRow[]): Promise<{ code: number; reason: string } | undefined> => {
    try {
      const { rowsRead } = await store.insert(topicNamed(topicName), sourceOf(rows))
      if (rowsRead !== rows.length)
        return { code: 0, reason: `the engine read ${rowsRead} rows where ${rows.length} were appended` }
      hasTaken = true
      return undefined
    } catch (error) {
      if (!isDataError(error)) throw error
      return { code: error.code, reason: error.message }
    }
  }

  /** Rows after the one that the engine names; undefined when it names none, or one that goes in. */
  const afterNamed = async (rows: SegmentRow[], reason: string): Promise<SegmentRow[] | undefined> => {
    const named = namesRows ? rowOf(reason) : undefined
    const row = rows[(named ?? 0) - 1]
    if (named === undefined || row === undefined) return undefined
    const before = refused.length
    await insert([row])
    namesRows = refused.length > before
    return namesRows ? rows.slice(named) : undefined
  }

  const insert = async (rows: SegmentRow[]): Promise<void> => {
    /** What the engine could read before the rows that it named: inserted once those are known. */
    const read: SegmentRow[] = []
    let rest = rows
    while (rest.length > 0) {
      const refusal = await refusalOf(rest)
      if (refusal === undefined) break
      const { code, reason } = refusal
      if (rest.length === 1) refused.push({ row: rest[0] as SegmentRow, reason, isOfRow: isOfRow(reason) })
      await suspectTables(code, reason)
      if (rest.length === 1) break
      const after = await afterNamed(rest, reason)
      if (after === undefined) {
        const half = rest.length >> 1
        await insert(rest.slice(0, half))
        await insert(rest.slice(half))
        break
      }
      for (let i = 0; i < rest.length - after.length - 1; i++) read.push(rest[i] as SegmentRow)
      rest = after
    }
    if (read.length > 0) await insert(read)
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
