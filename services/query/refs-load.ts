// What refs point at: object versions by name and digest, and rows of tables, many per statement.
import { retryLater } from '../core/http/errors.ts'
import type { ProjectId } from '../core/ids.ts'
import { param, projectQuery, sql } from '../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../core/store/store.ts'
import { rowsAt } from './tables/read.ts'

export type RefSource = { store: Pick<Store, 'rows'>; projectId: ProjectId; options: QueryOptions }

/** A version of an object, or a row of a table; the key of both is their text. */
export type Target = { is: 'object'; name: string; digest: string } | { is: 'row'; table: string; digest: string }

export const targetKey = (target: Target): string =>
  target.is === 'object' ? `${target.name}:${target.digest}` : `/${target.table}/${target.digest}`

type ObjectTarget = Target & { is: 'object' }
type RowTarget = Target & { is: 'row' }

/** Conditions on single columns let the index choose; the pairs decide. */
function objectsWhere(targets: readonly ObjectTarget[]) {
  const distinct = (texts: string[]) => param('Array(String)', [...new Set(texts)])
  return sql`object_id IN ${distinct(targets.map(({ name }) => name))}
    AND digest IN ${distinct(targets.map(({ digest }) => digest))}
    AND concat(object_id, ':', digest) IN ${distinct(targets.map(targetKey))}`
}

const livenessQuery = (projectId: ProjectId, targets: readonly ObjectTarget[]): Query =>
  projectQuery(
    'refs.liveness',
    projectId,
    (project) =>
      sql`SELECT concat(object_id, ':', digest) AS key,
      toUInt8(maxIf(clock, event = 'created') > maxIf(clock, event = 'deleted')) AS live
      ${project.from('object_events', { where: objectsWhere(targets) })} GROUP BY key`,
  )

const contentsQuery = (projectId: ProjectId, targets: readonly ObjectTarget[]): Query =>
  projectQuery(
    'refs.objects',
    projectId,
    (project) =>
      sql`SELECT concat(object_id, ':', digest) AS key, val
      ${project.from('objects', { where: objectsWhere(targets) })} ORDER BY clock DESC LIMIT 1 BY key`,
  )

/** Which of the rows belong to which of the tables. */
const membersQuery = (projectId: ProjectId, targets: readonly RowTarget[]): Query =>
  projectQuery('refs.table-rows', projectId, (project) => {
    const tables = param('Array(String)', [...new Set(targets.map(({ table }) => table))])
    const rows = param('Array(String)', [...new Set(targets.map(({ digest }) => digest))])
    return sql`SELECT DISTINCT digest AS table, row_digest AS row
    FROM (SELECT digest, row_digests ${project.from('table_lists', { where: sql`digest IN ${tables}` })})
    ARRAY JOIN row_digests AS row_digest WHERE row_digest IN ${rows}`
  })

/** Text of each target that exists; null for a deleted object. */
export type Loaded = Map<string, string | null>

async function loadObjects({ store, projectId, options }: RefSource, targets: ObjectTarget[], into: Loaded) {
  if (targets.length === 0) return
  const [events, contents] = await Promise.all([
    store.rows<{ key: string; live: number }>(livenessQuery(projectId, targets), options),
    store.rows<{ key: string; val: string }>(contentsQuery(projectId, targets), options),
  ])
  const values = new Map(contents.map(({ key, val }) => [key, val]))
  for (const { key, live } of events) {
    const val = values.get(key)
    if (live === 1 && val === undefined) throw retryLater(503, `The content of ${key} is not readable yet`)
    into.set(key, live === 1 && val !== undefined ? val : null)
  }
}

async function loadRows(source: RefSource, targets: RowTarget[], into: Loaded) {
  if (targets.length === 0) return
  const { store, projectId, options } = source
  const found = await store.rows<{ table: string; row: string }>(membersQuery(projectId, targets), options)
  const members = new Set(found.map(({ table, row }) => targetKey({ is: 'row', table, digest: row })))
  const known = targets.filter((target) => members.has(targetKey(target)))
  const values = new Map<string, string>()
  const places = [...new Set(known.map(({ digest }) => digest))].map((digest, index) => ({ index, digest }))
  for await (const rows of rowsAt(source, places)) for (const { digest, val } of rows) values.set(digest, val)
  for (const target of known) {
    const val = values.get(target.digest)
    if (val !== undefined) into.set(targetKey(target), val)
  }
}

/** @throws Fault 503 when an object's content is not there yet (two views do not commit together) */
export async function loadTargets(source: RefSource, targets: readonly Target[]): Promise<Loaded> {
  const loaded: Loaded = new Map()
  const objects = targets.filter((target) => target.is === 'object')
  const rows = targets.filter((target) => target.is === 'row')
  await Promise.all([loadObjects(source, objects, loaded), loadRows(source, rows, loaded)])
  return loaded
}
