// The order of table rows by paths into their values (specification: objects, tables, files and refs, section 3).
import type { z } from 'zod'
import type { tableQueryRequest } from '../../../schemas/tables.ts'
import { TooLongHere } from '../../core/errors.ts'
import { fault } from '../../core/http/errors.ts'
import { compareCodePoints, items, members } from '../../core/json/canonical.ts'
import { rewriteJson } from '../../core/json/rewrite.ts'
import { distinctTerms } from '../sort-terms.ts'
import { type ListedRow, rowsAt, type TableSource } from './read.ts'

type SortBy = NonNullable<z.output<typeof tableQueryRequest>['sort_by']>

type Term = { path: string[]; isDescending: boolean }
/** Null = absent or null, which comes last in both directions. */
type Key = { number: number | null; text: string } | null

/** @throws Fault 400 for a path with an empty part */
export const sortTerms = (sortBy: SortBy): Term[] =>
  distinctTerms(sortBy).map(({ field, direction }) => {
    const path = field.split('.')
    if (path.some((part) => part.trim() === ''))
      throw fault(400, `Invalid sort field ${JSON.stringify(field.slice(0, 200))}`)
    return { path, isDescending: direction === 'desc' }
  })

function textAt(val: string, path: readonly string[]): string | undefined {
  let text: string | undefined = val
  for (const part of path) {
    if (text === undefined) return undefined
    if (text[0] === '{') text = members(text)?.get(part)
    else if (text[0] === '[' && /^\d+$/.test(part)) text = items(text)?.[Number(part)]
    else return undefined
  }
  return text
}

const numeric = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function keyAt(val: string, path: readonly string[]): Key {
  const found = textAt(val, path)
  if (found === undefined || found === 'null') return null
  const text = found[0] === '"' ? (JSON.parse(found) as string) : rewriteJson(found)
  return { number: numeric.test(text) ? Number(text) : null, text }
}

function compareKeys(a: Key, b: Key, isDescending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  const sign = isDescending ? -1 : 1
  if (a.number === null || b.number === null) {
    if (a.number !== b.number) return a.number === null ? 1 : -1
  } else if (a.number !== b.number) return a.number < b.number ? -sign : sign
  return sign * compareCodePoints(a.text, b.text)
}

/** Keys that are sorted within some 25 ms. */
const maxHere = 20_000

/**
 * The places of the stored rows in the asked order; only the keys of all rows are in memory at once.
 * @throws TooLongHere for more keys than are sorted at once, unless the work may take long
 */
export async function sortedRows(
  source: TableSource,
  places: AsyncIterable<ListedRow[]> | Iterable<ListedRow[]>,
  terms: readonly Term[],
  mayTakeLong: boolean,
): Promise<ListedRow[]> {
  const keyed: { place: ListedRow; keys: Key[] }[] = []
  for await (const group of places)
    for await (const rows of rowsAt(source, group)) {
      if (!mayTakeLong && keyed.length + rows.length > maxHere) throw new TooLongHere()
      for (const { index, digest, val } of rows)
        keyed.push({ place: { index, digest }, keys: terms.map(({ path }) => keyAt(val, path)) })
    }
  keyed.sort((a, b) => {
    for (const [i, { isDescending }] of terms.entries()) {
      const order = compareKeys(a.keys[i] ?? null, b.keys[i] ?? null, isDescending)
      if (order !== 0) return order
    }
    return a.place.index - b.place.index
  })
  return keyed.map(({ place }) => place)
}
