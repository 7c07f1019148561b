// Rows of lists that may be longer than one result of the engine: all at once, or by their keys, batch by batch.

import { setImmediate as turn } from 'node:timers/promises'
import { fault } from '../core/http/errors.ts'
import { sql } from '../core/store/sql.ts'
import { type Query, type QueryOptions, type Store, StoreError } from '../core/store/store.ts'
import { readCompact } from './compact-rows.ts'
import { batchesBySize } from './list-reply.ts'

/** Bytes of the engine's answer that are read at once. */
export const chunkBytes = 256 * 1024
/** Rows of a slice of a list that does not come at once. */
const sliceRows = 100_000
/** The next slice after one that was too large is so many times shorter. */
const shrink = 8

/** Cuts lines into pieces of whole lines. */
function* pieces(lines: Buffer): Generator<Buffer> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(10, Math.min(start + chunkBytes, lines.length - 1)) + 1
    yield lines.subarray(start, end === 0 ? lines.length : end)
    start = end === 0 ? lines.length : end
  }
}

/** Less of a result may fit. */
export const isTooLarge = (error: unknown): boolean => error instanceof StoreError && error.kind === 'memory'

/** The result of a read; null when it is too large. */
export const unlessTooLarge = <T>(reading: Promise<T>): Promise<T | null> =>
  reading.catch((error: unknown) => {
    if (isTooLarge(error)) return null
    throw error
  })

/** Settings of a read that is tried before sizes are looked at: it takes no more than some batches do. */
export const ifSmall = sql`SETTINGS max_result_bytes = 12582912, max_memory_usage = 134217728`

/** A part of a list; limit null = to its end. */
export type Bounds = { limit: number | null; offset: number }

/** Cut to what the engine counts with. @throws Fault 400 when it is negative */
export function nonNegative(name: 'limit' | 'offset', value: number | null | undefined): number | null {
  if (value === undefined || value === null) return null
  if (value < 0) throw fault(400, `${name} must not be negative`)
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

/** The part of a list that a request names. @throws Fault 400 */
export const listBounds = ({ limit, offset }: { [Name in keyof Bounds]?: number | null | undefined }): Bounds => ({
  limit: nonNegative('limit', limit),
  offset: nonNegative('offset', offset) ?? 0,
})

/**
 * Reads a list in its order: at once where it fits into one result, else slice by slice.
 * @param read rows within bounds; fewer than the limit are the last ones
 */
export async function* inSlices<Row>(
  read: (bounds: { limit: number; offset: number }) => Promise<Row[]>,
  { limit, offset }: Bounds,
): AsyncGenerator<Row[]> {
  const end = limit === null ? Number.MAX_SAFE_INTEGER : Math.min(offset + limit, Number.MAX_SAFE_INTEGER)
  let most = Number.MAX_SAFE_INTEGER
  for (let at = offset; at < end; ) {
    const asked = Math.min(most, end - at)
    let rows: Row[]
    try {
      rows = await read({ limit: asked, offset: at })
    } catch (error) {
      if (!isTooLarge(error) || asked === 1) throw error
      most = asked > sliceRows ? sliceRows : Math.ceil(asked / shrink)
      continue
    }
    if (rows.length > 0) yield rows
    if (rows.length < asked) return
    at += rows.length
  }
}

export type ListKey = { key: string; sizeBytes: number }

export type KeyedList<Row, Key extends ListKey = ListKey> = {
  /** All rows; refused as `memory` when they are too large. */
  whole: Query
  /** Keys and bytes of the rows, in the order of the list. */
  keys(bounds: Bounds): Query
  /** The rows of some keys, in any order. */
  of(keys: readonly string[]): Query
  rows(answer: Buffer): Row[]
  keyRows(answer: Buffer): Key[]
  keyOf(row: Row): string
  /** The row as it is shown, given what its key came with. Default: as it is. */
  complete?(row: Row, key: Key): Row
}

/** The rows of some keys in their order; those that are gone are left out. */
export async function* rowsOfKeys<Row, Key extends ListKey>(
  { store, options }: { store: Pick<Store, 'bytes'>; options: QueryOptions },
  list: Pick<KeyedList<Row, Key>, 'of' | 'rows' | 'keyOf' | 'complete'>,
  keys: readonly Key[],
): AsyncGenerator<Row[]> {
  for (const batch of batchesBySize(keys, ({ sizeBytes }) => sizeBytes)) {
    const ofBatch = list.of(batch.map(({ key }) => key))
    const found = new Map(list.rows(await readCompact(store, ofBatch, options)).map((row) => [list.keyOf(row), row]))
    const rows: Row[] = []
    for (const key of batch) {
      const row = found.get(key.key)
      if (row !== undefined) rows.push(list.complete?.(row, key) ?? row)
    }
    if (rows.length > 0) yield rows
  }
}

/** A list in its order, some rows at a time; a row that is gone when it is read by its key is left out. */
export async function* listRows<Row, Key extends ListKey>(
  { store, options }: { store: Pick<Store, 'bytes'>; options: QueryOptions },
  list: KeyedList<Row, Key>,
  bounds: Bounds,
): AsyncGenerator<Row[]> {
  const read = (query: Query) => readCompact(store, query, options)
  const whole = await unlessTooLarge(read(list.whole))
  if (whole !== null) {
    for (const piece of pieces(whole)) {
      yield list.rows(piece)
      await turn()
    }
    return
  }
  const readKeys = async (slice: Bounds) => list.keyRows(await read(list.keys(slice)))
  for await (const keys of inSlices(readKeys, bounds)) yield* rowsOfKeys({ store, options }, list, keys)
}
