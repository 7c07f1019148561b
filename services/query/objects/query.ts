// Listing object versions: POST /objs/query.

import type { z } from 'zod'
import { objsQueryRequest, objsQueryResponse } from '../../../schemas/objects.ts'
import { TooLongHere } from '../../core/errors.ts'
import { retryLater } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { batchesBySize, listReply } from '../list-reply.ts'
import { inSlices, listBounds } from '../list-rows.ts'
import { distinctTerms } from '../sort-terms.ts'
import { labels, labelsOf } from './labels.ts'
import { versionJson } from './record.ts'
import { versions } from './versions.ts'

export type ObjectListDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  config: { wirePrefix: string }
}

type Request = z.output<typeof objsQueryRequest>

/** A version without its value. */
export type ListedVersion = {
  object_id: string
  kind: 'object' | 'op'
  digest: string
  created_us: string
  version_index: number
  is_latest: number
  creator: string
  base_object_class: string
  leaf_object_class: string
  size_bytes: string
}

const and = (conditions: readonly Sql[]): Sql => join(conditions, ' AND ')
const oneOf = (column: Sql, values: readonly string[]): Sql => sql`${column} IN ${param('Array(String)', values)}`

/** Conditions on single versions; those on names are applied before versions are numbered. */
function conditions(filter: NonNullable<Request['filter']>): Sql[] {
  const found: Sql[] = []
  const listed = (values: string[] | null | undefined): values is string[] => values != null && values.length > 0
  if (listed(filter.base_object_classes)) found.push(oneOf(sql`c.base_object_class`, filter.base_object_classes))
  if (listed(filter.leaf_object_classes)) found.push(oneOf(sql`c.leaf_object_class`, filter.leaf_object_classes))
  if (listed(filter.exclude_base_object_classes)) {
    const among = oneOf(sql`c.base_object_class`, filter.exclude_base_object_classes)
    // '' stands for no class, which no list can name.
    found.push(sql`(c.base_object_class = '' OR NOT ${among})`)
  }
  if (typeof filter.is_op === 'boolean') found.push(filter.is_op ? sql`v.kind = 'op'` : sql`v.kind != 'op'`)
  if (filter.latest_only === true) found.push(sql`v.latest_rank = 1`)
  return found
}

/** Conditions that need the labels of versions. */
function labelConditions(filter: NonNullable<Request['filter']>, project: ProjectScope): Sql[] {
  const labelled = (kind: 'tag' | 'alias', values: readonly string[]) => {
    const which = sql`label_kind = ${param('String', kind)} AND ${oneOf(sql`label`, values)}`
    return sql`(v.object_id, v.digest) IN (SELECT object_id, digest FROM (${labels(project, which)}))`
  }
  const found: Sql[] = []
  const { tags, aliases } = filter
  if (tags != null && tags.length > 0) found.push(labelled('tag', tags))
  if (aliases != null && aliases.length > 0) {
    const among = labelled('alias', aliases)
    found.push(aliases.includes('latest') ? sql`(v.latest_rank = 1 OR ${among})` : among)
  }
  return found
}

const sortColumns: Record<string, Sql> = { object_id: sql`v.object_id`, created_at: sql`v.created_clock` }

function orderOf(sortBy: Request['sort_by']): Sql {
  const known = (sortBy ?? []).filter(({ field }) => Object.hasOwn(sortColumns, field))
  const terms = distinctTerms(known).map(({ field, direction }) => {
    const column = sortColumns[field] as Sql
    return direction === 'desc' ? sql`${column} DESC` : column
  })
  if (terms.length === 0) terms.push(sql`v.created_clock`)
  return join([...terms, sql`v.version_index`, sql`v.object_id`, sql`v.kind`], ', ')
}

type Page = { where(project: ProjectScope): Sql[]; order: Sql; limit: number; offset: number }

/**
 * Live versions with their classes.
 * @param names only these objects; empty = all
 */
export const listQuery = (projectId: ProjectId, names: readonly string[], page: Page): Query =>
  projectQuery('objects.list', projectId, (project) => {
    const named = names.length > 0 ? oneOf(sql`object_id`, names) : sql`1`
    const contents = sql`SELECT object_id, kind, digest, base_object_class, leaf_object_class, size_bytes
      ${project.from('objects', { final: true, where: named })}`
    return sql`SELECT v.object_id AS object_id, v.kind AS kind, v.digest AS digest,
      toInt64(intDiv(v.created_clock, 1024)) AS created_us, v.version_index AS version_index,
      toUInt8(v.latest_rank = 1) AS is_latest, v.creator AS creator, c.base_object_class AS base_object_class,
      c.leaf_object_class AS leaf_object_class, toString(c.size_bytes) AS size_bytes
    FROM (${versions(project, named)}) AS v
    INNER JOIN (${contents}) AS c ON v.object_id = c.object_id AND v.kind = c.kind AND v.digest = c.digest
    WHERE ${and([sql`v.live`, ...page.where(project)])}
    ORDER BY ${page.order}
    LIMIT ${param('UInt64', page.limit)} OFFSET ${param('UInt64', page.offset)}`
  })

export const versionsQuery = (
  projectId: ProjectId,
  request: Pick<Request, 'filter' | 'sort_by'>,
  slice: { limit: number; offset: number },
): Query => {
  const filter = request.filter ?? {}
  const where = (project: ProjectScope) => [...conditions(filter), ...labelConditions(filter, project)]
  return listQuery(projectId, filter.object_ids ?? [], { where, order: orderOf(request.sort_by), ...slice })
}

const keyOf = ({ object_id, kind, digest }: Pick<ListedVersion, 'object_id' | 'kind' | 'digest'>): string =>
  `${object_id}:${kind}:${digest}`

export const objectValuesQuery = (projectId: ProjectId, listed: readonly ListedVersion[]): Query =>
  projectQuery('objects.values', projectId, (project) => {
    const names = oneOf(sql`object_id`, [...new Set(listed.map((version) => version.object_id))])
    const digests = oneOf(sql`digest`, [...new Set(listed.map((version) => version.digest))])
    const keys = oneOf(sql`concat(object_id, ':', toString(kind), ':', digest)`, listed.map(keyOf))
    return sql`SELECT object_id, kind, digest, val
    ${project.from('objects', { where: sql`${names} AND ${digests} AND ${keys}` })}
    ORDER BY clock DESC LIMIT 1 BY object_id, kind, digest`
  })

/** A value that is read and written within some 25 ms. */
const maxHere = 1024 * 1024

type ValueRow = Pick<ListedVersion, 'object_id' | 'kind' | 'digest'> & { val: string }

/** The versions as JSON texts, separated by commas; their values are read batch by batch. */
async function* versionTexts(
  store: Pick<Store, 'rows'>,
  listed: readonly ListedVersion[],
  asked: { projectId: ProjectId; prefix: string; request: Request; options: QueryOptions },
): AsyncGenerator<string> {
  const { projectId, prefix, request, options } = asked
  const withVal = request.metadata_only !== true
  for (const batch of batchesBySize(listed, (version) => (withVal ? Number(version.size_bytes) : 0), 2_000)) {
    const rows = withVal ? await store.rows<ValueRow>(objectValuesQuery(projectId, batch), options) : []
    const values = new Map(rows.map((row) => [keyOf(row), row.val]))
    const names = [...new Set(batch.map((version) => version.object_id))]
    const labelled = request.include_tags_and_aliases === true ? await labelsOf(store, projectId, names, options) : null
    const texts = batch.map((version) => {
      const val = withVal ? values.get(keyOf(version)) : '{}'
      if (val === undefined) throw retryLater(503, `The content of ${keyOf(version)} is not readable`)
      const shown = {
        objectId: version.object_id,
        kind: version.kind,
        digest: version.digest,
        createdUs: Number(version.created_us),
        versionIndex: version.version_index,
        isLatest: version.is_latest === 1,
        userId: version.creator,
        baseClass: version.base_object_class,
        leafClass: version.leaf_object_class,
        val,
      }
      const size = request.include_storage_size === true ? Number(version.size_bytes) : null
      const own = labelled?.of(shown.objectId, shown.digest, shown.isLatest) ?? null
      return versionJson(projectId, shown, prefix, own, size)
    })
    yield texts.join(',')
  }
}

export function createObjectListRoutes({ store, freshness, config }: ObjectListDeps): Route[] {
  return [
    route({
      name: 'objects.query',
      method: 'POST',
      path: '/objs/query',
      summary: 'Versions of objects, filtered, sorted and paged',
      body: { type: 'json', schema: objsQueryRequest, check: 'schema' },
      response: objsQueryResponse,
      tables: ['objects', 'object_events', 'object_labels'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const bounds = listBounds(input)
        const headers = await freshness.wait(context, ['objects', 'object_labels'])
        if (bounds.limit === 0) return { json: { objs: [] }, headers }
        const options = { signal }
        const read = (slice: { limit: number; offset: number }) =>
          store.rows<ListedVersion>(versionsQuery(projectId, input, slice), options)
        const asked = { projectId, prefix: config.wirePrefix, request: input, options }
        let isFirst = true
        async function* texts(): AsyncGenerator<string> {
          for await (const listed of inSlices(read, bounds)) {
            // The sizes are known before the answer begins: values of later batches may be large.
            const isLong = input.metadata_only !== true && listed.some(({ size_bytes }) => Number(size_bytes) > maxHere)
            if (isLong && isFirst && !context.mayTakeLong) throw new TooLongHere()
            isFirst = false
            yield* versionTexts(store, listed, asked)
          }
        }
        return listReply('objs', texts(), headers)
      },
    }),
  ]
}
