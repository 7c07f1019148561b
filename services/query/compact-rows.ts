// Rows of the engine as JSONCompactEachRow: arrays of values, and readers that give the values names.
import { sql } from '../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../core/store/store.ts'

/** Times and sizes as numbers: none of them exceeds 2^53. */
export const asNumbers = sql`SETTINGS output_format_json_quote_64bit_integers = 0`

/** The same, and no result above 32 MiB: for lists that come in batches then. */
export const asFewNumbers = sql`${asNumbers}, max_result_bytes = 33554432`

/** Rows of an answer. */
export function compactRows<Row>(answer: Buffer): Row[] {
  if (answer.length === 0) return []
  const text = answer.toString('utf8').trimEnd()
  return JSON.parse(`[${text.replaceAll('\n', ',')}]`) as Row[]
}

/** The answer to a statement, not taken apart. */
export const readCompact = (store: Pick<Store, 'bytes'>, query: Query, options: QueryOptions): Promise<Buffer> =>
  store.bytes(query, 'JSONCompactEachRow', options)

/** Rows of a statement with few columns, as arrays. */
export const readTuples = async <Row>(
  store: Pick<Store, 'bytes'>,
  query: Query,
  options: QueryOptions,
): Promise<Row[]> => compactRows<Row>(await readCompact(store, query, options))

/** The row of an aggregate. @throws Error without one: nothing must be counted as 0 because an answer broke off */
export function onlyRow<Row>(answer: Buffer): Row {
  const [row] = compactRows<Row>(answer)
  if (row === undefined) throw new Error('a count was answered without a row')
  return row
}
