// Isolates the rows that the store refuses, so that one bad row costs one dead letter and not a batch.

import { splitBatch } from '../../core/concurrency/split-batch.ts'
import type { Store } from '../../core/store/store.ts'
import { topicNamed } from '../../events/registry.ts'
import { type SegmentRow, sourceOf, withoutHeader } from '../../events/segment-rows.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import { cut, isRefusal } from './cuts.ts'
import { Held } from './held.ts'

/** Above this number the tables or the edge are at fault and an operator has to look, */
const maxRefusedRows = 100
/** unless rows that were applied before still go in: then the limit is this share of the batch. A row costs a statement or two. */
const maxRefusedShare = 0.5
/** Refusals, without a row that went in, after which the tables count as taking nothing. */
const enoughRefusals = 10

type Refusal = { row: SegmentRow; reason: string; isOfRow: boolean }

/** Edges only write fields that the tables of their build have, so the tables are older. */
const isUnknownField = (reason: string): boolean => reason.startsWith('Unknown field')
/** Number, from 1 on, of the row whose text the engine could not read; undefined for a refusal by a view, which may be at fault itself. */
const rowNumberOf = (reason: string): number | undefined => {
  const at = /\(at row (\d+)\)/.exec(reason)?.[1]
  return at === undefined ? undefined : Number(at)
}
const isOfRow = (reason: string): boolean => rowNumberOf(reason) !== undefined

/**
 * Inserts rows and keeps those that the store refuses as dead letters. After a refusal it continues behind the row that
 * the engine names, or in halves, until each refused row is alone. Inserting a row twice changes nothing. Outages are
 * thrown for the caller to retry.
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
  let controlled: 'taken' | 'refused' | 'unknown' | undefined
  /** Whether each row that the engine named was indeed refused alone. */
  let namesRows = true

  /** @throws Held when the refusals so far show that the tables are at fault */
  const suspectTables = async (code: number, reason: string): Promise<void> => {
    if (!control) return
    const codeText = code === 0 ? '' : ` (code ${code})`
    if (isUnknownField(reason))
      throw new Held(
        `rows have a field that the tables have not${codeText}; an upgrade may be unfinished; rows wait`,
        reason,
      )
    controlled ??= await control()
    const isProven = hasTaken || controlled === 'taken'
    const isSuspect = !isProven && refused.some((one) => !one.isOfRow)
    if (controlled === 'refused' || (isSuspect && (refused.length >= enoughRefusals || refused.length === all.length)))
      throw new Held(
        `the database refuses every row${codeText}; a view or an upgrade may be unfinished; rows wait`,
        reason,
      )
    const max = Math.max(maxRefusedRows, controlled === 'taken' ? Math.floor(all.length * maxRefusedShare) : 0)
    if (refused.length > max)
      throw new Held(`the database refuses more than ${max} rows of one batch${codeText}; rows wait`, reason)
  }

  /** Inserts the rows; returns why they were refused, undefined when they went in. */
  const refusalOf = async (rows: SegmentRow[]): Promise<{ code: number; reason: string } | undefined> => {
    try {
      const { rowsRead } = await store.insert(topicNamed(topicName), sourceOf(rows))
      if (rowsRead !== rows.length)
        return { code: 0, reason: `the engine read ${rowsRead} rows where ${rows.length} were appended` }
      hasTaken = true
      return undefined
    } catch (error) {
      if (!isRefusal(error)) throw error
      return { code: error.code, reason: error.message }
    }
  }

  /** Inserts the row that the engine names alone; returns the rows after it, undefined when it names none or one that goes in. */
  const afterNamed = async (rows: SegmentRow[], reason: string): Promise<SegmentRow[] | undefined> => {
    const named = namesRows ? rowNumberOf(reason) : undefined
    const row = rows[(named ?? 0) - 1]
    if (named === undefined || row === undefined) return undefined
    const before = refused.length
    await attempt([row])
    namesRows = refused.length > before
    return namesRows ? rows.slice(named) : undefined
  }

  /**
   * Inserts rows past those that the engine names, as long as it names the right ones; returns what is left to insert:
   * halves of what it does not name a row of, and the rows before those that it named.
   */
  const attempt = async (rows: SegmentRow[]): Promise<SegmentRow[][]> => {
    const readable: SegmentRow[] = []
    let rest = rows
    while (rest.length > 0) {
      const refusal = await refusalOf(rest)
      if (refusal === undefined) break
      const { code, reason } = refusal
      const [only, second] = rest
      const isAlone = second === undefined
      if (isAlone) refused.push({ row: only as SegmentRow, reason, isOfRow: isOfRow(reason) })
      await suspectTables(code, reason)
      const after = isAlone ? [] : await afterNamed(rest, reason)
      if (after === undefined) return [...cut(rest, 'refused row'), readable]
      for (const row of rest.slice(0, rest.length - after.length - 1)) readable.push(row)
      rest = after
    }
    return readable.length > 0 ? [readable] : []
  }
  await splitBatch(all, attempt)
  for (const { row, reason } of refused)
    await deadLetters.add({
      topic: topicName,
      partition: row.partition,
      offset: row.offset,
      rowIndex: row.rowIndex,
      reason: reason.slice(0, 2000),
      row: withoutHeader(row.text),
    })
  return refused.length
}
