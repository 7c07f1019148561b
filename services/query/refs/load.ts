// Loads the targets of refs: object versions by name and digest, and rows of tables, many per statement.
import { retryLater } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { batchesBySize } from '../list-reply.ts'
import { ifSmall, unlessTooLarge } from '../list-rows.ts'
import { rowsAt } from '../tables/read.ts'

export type RefSource = { store: Pick<Store, 'rows'>; projectId: ProjectId; options: QueryOptions }

/** A version of an object, or a row of a table; the key of both is their text. */
export type RefTarget = { is: 'object'; name: string; digest: string } | { is: 'row'; table: string; digest: string }

export const targetKey = (target: RefTarget): string =>
  target.is === 'object' ? `${target.name}:${target.digest}` : `/${target.table}/${target.digest}`

type ObjectTarget = RefTarget & { is: 'object' }
type RowTarget = RefTarget & { is: 'row' }

/** Conditions on single columns let the index choose; the pairs decide. */
function objectsWhere(targets: readonly ObjectTarget[]) {
  const distinct = (texts: string[]) => param('Array(String)', [...new Set(texts)])
  return sql`object_id IN ${distinct(targets.map(({ name }) => name))}
    AND digest IN ${distinct(targets.map(({ digest }) => digest))}
    AND concat(object_id, ':', digest) IN ${distinct(targets.map(targetKey))}`
}

export const livenessQuery = (projectId: ProjectId, targets: readonly ObjectTarget[]): Query =>
  projectQuery(
    'refs.liveness',
    projectId,
    (project) =>
      sql`SELECT concat(object_id, ':', digest) AS key,
      toUInt8(maxIf(clock, event = 'created') > maxIf(clock, event = 'deleted')) AS live
      ${project.from('object_events', { where: objectsWhere(targets) })} GROUP BY key`,
  )

export const contentsQuery = (projectId: ProjectId, targets: readonly ObjectTarget[], settings = sql``): Query =>
  projectQuery(
    'refs.objects',
    projectId,
    (project) =>
      sql`SELECT concat(object_id, ':', digest) AS key, val
      ${project.from('objects', { where: objectsWhere(targets) })} ORDER BY clock DESC LIMIT 1 BY key ${settings}`,
  )

export const refSizesQuery = (projectId: ProjectId, targets: readonly ObjectTarget[]): Query =>
  projectQuery(
    'refs.sizes',
    projectId,
    (project) =>
      sql`SELECT concat(object_id, ':', digest) AS key, toString(any(size_bytes)) AS size_bytes
      ${project.from('objects', { where: objectsWhere(targets) })} GROUP BY key`,
  )

/** The rows that belong to the tables. */
export const membersQuery = (projectId: ProjectId, targets: readonly RowTarget[]): Query =>
  projectQuery('refs.table-rows', projectId, (project) => {
    const tables = param('Array(String)', [...new Set(targets.map(({ table }) => table))])
    const rows = param('Array(String)', [...new Set(targets.map(({ digest }) => digest))])
    return sql`SELECT DISTINCT digest AS table, row_digest AS row
    FROM (SELECT digest, row_digests ${project.from('table_lists', { where: sql`digest IN ${tables}` })})
    ARRAY JOIN row_digests AS row_digest WHERE row_digest IN ${rows}`
  })

/** A target that exists: its text, or only its size, or null when it is a deleted object. */
export type Found = { text: string } | { sizeBytes: number } | null

type Founds = AsyncGenerator<Map<string, Found>>

async function* loadObjects(
  { store, projectId, options }: RefSource,
  targets: readonly ObjectTarget[],
  needsText: (key: string) => boolean,
): Founds {
  if (targets.length === 0) return
  const textsOf = async (some: readonly ObjectTarget[], settings?: Sql) => {
    const rows = await store.rows<{ key: string; val: string }>(contentsQuery(projectId, some, settings), options)
    return new Map(rows.map(({ key, val }) => [key, val]))
  }
  const [events, few] = await Promise.all([
    store.rows<{ key: string; live: number }>(livenessQuery(projectId, targets), options),
    unlessTooLarge(textsOf(targets, ifSmall)),
  ])
  const live = new Set(events.flatMap((event) => (event.live === 1 ? event.key : [])))
  yield new Map(events.flatMap(({ key }) => (live.has(key) ? [] : [[key, null] as const])))
  const known = targets.filter((target) => live.has(targetKey(target)))
  const unreadable = (key: string) => retryLater(503, `The content of ${key} is not readable yet`)
  const found = (key: string, text: string | undefined): [string, Found] => {
    if (text === undefined) throw unreadable(key)
    return [key, { text }]
  }
  if (few !== null) {
    yield new Map(known.map(targetKey).map((key) => found(key, few.get(key))))
    return
  }
  const rows = await store.rows<{ key: string; size_bytes: string }>(refSizesQuery(projectId, known), options)
  const sizes = new Map(rows.map((row) => [row.key, Number(row.size_bytes)]))
  const sizeOf = (target: ObjectTarget): number => {
    const size = sizes.get(targetKey(target))
    if (size === undefined) throw unreadable(targetKey(target))
    return size
  }
  const unread = known.filter((target) => !needsText(targetKey(target)))
  yield new Map(unread.map((target) => [targetKey(target), { sizeBytes: sizeOf(target) }]))
  for (const batch of batchesBySize(
    known.filter((target) => needsText(targetKey(target))),
    sizeOf,
  )) {
    const texts = await textsOf(batch)
    yield new Map(batch.map(targetKey).map((key) => found(key, texts.get(key))))
  }
}

async function* loadRows(source: RefSource, targets: readonly RowTarget[]): Founds {
  if (targets.length === 0) return
  const { store, projectId, options } = source
  const found = await store.rows<{ table: string; row: string }>(membersQuery(projectId, targets), options)
  const members = new Set(found.map(({ table, row }) => targetKey({ is: 'row', table, digest: row })))
  const known = Map.groupBy(
    targets.filter((target) => members.has(targetKey(target))),
    ({ digest }) => digest,
  )
  const places = [...known.keys()].map((digest, index) => ({ index, digest }))
  for await (const rows of rowsAt(source, places))
    yield new Map(
      rows.flatMap(({ digest, val: text }) => (known.get(digest) ?? []).map((target) => [targetKey(target), { text }])),
    )
}

/**
 * Reads the targets, some at a time; what does not exist is in none of the answers.
 * @param needsText whether the text of an object is needed: of large ones that are not, only the size comes
 * @throws Fault 503 when an object's content is not there yet (two views do not commit together)
 */
export async function* loadTargets(
  source: RefSource,
  targets: readonly RefTarget[],
  needsText: (key: string) => boolean,
): Founds {
  yield* loadObjects(
    source,
    targets.filter((target) => target.is === 'object'),
    needsText,
  )
  yield* loadRows(
    source,
    targets.filter((target) => target.is === 'row'),
  )
}
