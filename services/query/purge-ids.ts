// The queries that purges take: they name ids and nothing else, so that the event can name them too.
import { fault } from '../core/http/errors.ts'

const refused = () =>
  fault(400, 'A purge query may only compare id with texts: $eq, an $or of $eq, or $in, with the field first')

/** The one member of an object, refusing others. */
function only(node: unknown, key: string): unknown {
  if (typeof node !== 'object' || node === null || Object.keys(node).length !== 1) throw refused()
  const value = (node as Record<string, unknown>)[key]
  if (value === undefined) throw refused()
  return value
}

function pair(list: unknown): [unknown, unknown] {
  if (!Array.isArray(list) || list.length !== 2) throw refused()
  if (only(list[0], '$getField') !== 'id') throw refused()
  return [list[0], list[1]]
}

function textOf(node: unknown): string {
  const value = only(node, '$literal')
  if (typeof value !== 'string') throw refused()
  return value.toWellFormed()
}

const idOf = (node: unknown): string => textOf(pair(only(node, '$eq'))[1])

const maxIds = 10_000

/** Distinct ids that the expression names. @throws Fault 400 for any other form */
export function purgedIds(expression: Record<string, unknown>): string[] {
  let ids: string[]
  if (Object.hasOwn(expression, '$or')) {
    const list = only(expression, '$or')
    if (!Array.isArray(list) || list.length === 0) throw refused()
    ids = list.map(idOf)
  } else if (Object.hasOwn(expression, '$in')) {
    const [, list] = pair(only(expression, '$in'))
    if (!Array.isArray(list)) throw refused()
    ids = list.map(textOf)
  } else ids = [idOf(expression)]
  const distinct = [...new Set(ids)]
  if (distinct.length > maxIds) throw fault(400, `A purge names at most ${maxIds} ids`)
  return distinct
}
