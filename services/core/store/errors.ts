// Maps ClickHouse error codes to the kinds of StoreError: the worker decides by them between retry and dead letter.
import { StoreError } from './store.ts'

type Purpose = 'read' | 'command' | 'insert'

/** Names as in system.errors. */
const timeouts = new Set([159 /* TIMEOUT_EXCEEDED */, 160 /* TOO_SLOW */, 209 /* SOCKET_TIMEOUT */, 718])
/** A result that is too large for the memory of whoever asked is one of them: less of it may be asked for. */
const memory = new Set([
  173 /* CANNOT_ALLOCATE_MEMORY */, 241 /* MEMORY_LIMIT_EXCEEDED */, 396 /* TOO_MANY_ROWS_OR_BYTES */, 777, 778,
])
const cancellations = new Set([394 /* QUERY_WAS_CANCELLED */, 735 /* …_BY_CLIENT */])

/** An insert's rows are at fault: they do not parse, do not fit their types, or a view refuses a value. */
const badRows = new Set([
  6, 7, 9, 12, 13, 15, 19, 25, 26, 27, 32, 33, 34, 36, 38, 41, 53, 69, 70, 72, 117, 120, 122, 127, 128, 130, 131, 153,
  169, 190, 248, 306, 321, 349, 352, 366, 376, 386, 395, 407, 441, 467, 469, 563, 621, 626, 632, 645, 675, 676, 691,
  728, 760,
])

/** The statement or the schema is at fault: no other attempt changes that. */
const badStatements = new Set([
  1, 2, 8, 10, 16, 20, 35, 37, 42, 43, 44, 46, 47, 48, 50, 51, 55, 56, 57, 60, 62, 63, 73, 78, 79, 80, 81, 115, 119,
  125, 162, 164, 167, 168, 179, 181, 182, 183, 184, 191, 206, 207, 211, 215, 229, 307, 358, 397, 440, 452, 456, 457,
  471, 472, 497, 636, 703,
])

/** TOO_MANY_ROWS */
const tooManyRows = 158
const units: Record<string, number> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }

/** The exceeded limit and its number of rows, from engine texts such as `20.00 million`. */
function rowsMessageOf(message: string): string {
  const [most, found] = ['max', 'current'].map((which) => {
    const [, number, unit = ''] = new RegExp(`${which} rows: ([\\d.]+)(?: (\\w+))?`).exec(message) ?? []
    return Math.round(Number(number) * (units[unit] ?? 1))
  })
  return `Query would read about ${found} rows; one may read ${most}`
}

/** The client of a server gives the code beside the text, as digits; errors of sockets have words there. */
function codeOf(error: unknown, message: string): number {
  const given = (error as { code?: unknown } | undefined)?.code
  if (typeof given === 'string' && /^\d+$/.test(given)) return Number(given)
  return Number(/Code: (\d+)/.exec(message)?.[1] ?? 0)
}

/** The engine repeats its prefix and adds its version; what is left says what happened. */
const messageOf = (message: string): string =>
  message
    .replace(/^(?:Code: \d+\. DB::Exception: )+/, '')
    .replace(/ \(version [^)]*\)/g, '')
    .replace(/(\([A-Z_]+\))(?:\.? ?\1)+/, '$1')
    .slice(0, 2000)

/**
 * @param purpose an insert reads rows of clients: there a parse error is the rows' fault, elsewhere the statement's
 */
export function toStoreError(error: unknown, purpose: Purpose): StoreError {
  if (error instanceof StoreError) return error
  const text = error instanceof Error ? error.message : String(error)
  const code = codeOf(error, text)
  if (code === tooManyRows) return new StoreError('rows', code, rowsMessageOf(text))
  return new StoreError(kindOf(code, purpose), code, messageOf(text))
}

function kindOf(code: number, purpose: Purpose): StoreError['kind'] {
  if (timeouts.has(code)) return 'timeout'
  if (memory.has(code)) return 'memory'
  if (cancellations.has(code)) return 'cancelled'
  if (badRows.has(code)) return purpose === 'insert' ? 'data' : 'query'
  return badStatements.has(code) ? 'query' : 'outage'
}
