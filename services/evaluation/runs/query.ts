// Paths and query strings of the routes of runs, predictions and scores.
import { tooLarge } from '../../core/errors.ts'
import { invalid } from '../../core/http/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'

/** @throws Fault 400 when a part is empty or holds a slash, 403 without the route's right on the project */
export const projectOf = ({ params, project }: Pick<RouteContext, 'params' | 'project'>): ProjectId =>
  project(`${params.entity}/${params.project}`)

/** Values of all the spellings of a list: repeated, or separated by commas, which neither refs nor ids hold. */
export const listOf = (query: URLSearchParams, ...names: string[]): string[] =>
  names.flatMap((name) => query.getAll(name).flatMap((value) => value.split(','))).filter((value) => value !== '')

const maxDeleted = 1_000

/**
 * The ids of a delete, from the query string or else from the body.
 * @throws Fault 422 when there is no list, 413 when it is too long
 */
export function idsToDelete(query: URLSearchParams, name: string, fromBody: string[] | undefined): string[] {
  if (!query.has(name) && fromBody === undefined)
    throw invalid({ loc: ['query', name], msg: 'Field required', type: 'missing' })
  const ids = query.has(name) ? listOf(query, name) : (fromBody ?? [])
  if (ids.length > maxDeleted) throw tooLarge()
  return ids
}

/** A body's text without byte order mark. */
export const bodyText = ({ body }: Pick<RouteContext, 'body'>): string => body.bytes.toString().replace(/^\ufeff/, '')

/** The tables from which a call is read by its id. */
export const callTables = ['calls', 'call_keys', 'payloads']

/** The tables of the lists. */
export const listTables = [...callTables, 'payload_leaves', 'call_marks', 'call_counts_hourly', 'rollups']
