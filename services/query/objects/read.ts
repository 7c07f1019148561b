// Reading one version of an object by digest, number or alias.

import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { isContentHash } from '../../events/digest.ts'
import { projectQuery } from '../../events/project-query.ts'
import { aliasDigest } from './labels.ts'
import { versions } from './versions.ts'

export type ObjectVersion = {
  objectId: string
  kind: 'object' | 'op'
  digest: string
  createdUs: number
  versionIndex: number
  isLatest: boolean
  userId: string
  baseClass: string
  leafClass: string
  /** JSON text; '{}' when only metadata was asked for. */
  val: string
}

type VersionRow = {
  kind: 'object' | 'op'
  digest: string
  created_us: string
  deleted_us: string
  version_index: number
  latest_rank: string
  live: number
  creator: string
}

type ContentRow = { kind: string; base_object_class: string; leaf_object_class: string; val: string }

/** Selects the versions of an object that a text names. Other texts than `latest` and `v<number>` are digests. */
function matches(version: string): { where: Sql; digest: string | null } {
  if (version === 'latest') return { where: sql`latest_rank = 1`, digest: null }
  const number = /^v(\d+)$/.exec(version)?.[1]
  if (number === undefined) return { where: sql`digest = ${param('String', version)}`, digest: version }
  const index = Number(number)
  // Beyond any number that a version can have.
  if (index > 0xffffffff) return { where: sql`0`, digest: null }
  return { where: sql`version_index = ${param('UInt32', index)}`, digest: null }
}

/** A live version goes first, then the one that was created first. */
export const versionQuery = (projectId: ProjectId, objectId: string, version: string): Query =>
  projectQuery('objects.version', projectId, (project) => {
    const all = versions(project, sql`object_id = ${param('String', objectId)}`)
    return sql`SELECT kind, digest, toInt64(intDiv(created_clock, 1024)) AS created_us,
      toInt64(intDiv(deleted_clock, 1024)) AS deleted_us, version_index, latest_rank, live, creator
    FROM (${all}) WHERE ${matches(version).where} ORDER BY live DESC, first_clock LIMIT 1`
  })

/** Contents of a digest, newest first per kind; at most one row per kind. */
export const contentQuery = (projectId: ProjectId, objectId: string, digest: string, withVal: boolean): Query =>
  projectQuery('objects.content', projectId, (project) => {
    const where = sql`object_id = ${param('String', objectId)} AND digest = ${param('String', digest)}`
    return sql`SELECT kind, base_object_class, leaf_object_class, ${withVal ? sql`val` : sql`'{}' AS val`}
    ${project.from('objects', { where })} ORDER BY kind, clock DESC LIMIT 1 BY kind`
  })

const again = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export type RequestedVersion = {
  projectId: ProjectId
  objectId: string
  /** A digest, `latest`, `v<number>` or an alias. */
  version: string
}

const longestAlias = 128

/** The text with a custom alias replaced by the digest that it names. */
async function withoutAlias(
  store: Pick<Store, 'rows'>,
  { projectId, objectId, version }: RequestedVersion,
  options: QueryOptions,
): Promise<string> {
  if (version === 'latest' || /^v\d+$/.test(version) || isContentHash(version)) return version
  if (version.length > 2 * longestAlias) return version
  return (await aliasDigest(store, { projectId, objectId, alias: version }, options)) ?? version
}

/** @throws Fault 404 when nothing matched, with `deleted_at` when what matched is deleted */
function live({ objectId, version }: RequestedVersion, found: VersionRow | undefined): VersionRow {
  if (found === undefined) throw fault(404, `Object ${objectId}:${version} not found`)
  if (found.live) return found
  throw fault(404, `Object ${objectId}:${version} was deleted`, {
    deleted_at: formatTimestamp(Number(found.deleted_us)),
  })
}

/**
 * Digest of a live version.
 * @throws Fault 404 like `readObject`
 */
export async function findDigest(
  store: Pick<Store, 'rows'>,
  asked: RequestedVersion,
  options: QueryOptions,
): Promise<string> {
  const version = await withoutAlias(store, asked, options)
  const [found] = await store.rows<VersionRow>(versionQuery(asked.projectId, asked.objectId, version), options)
  return live(asked, found).digest
}

/**
 * @throws Fault 404 when there is no such version, with `deleted_at` when it is deleted; 503 when its content is not
 *   there yet (the views that fill the two tables do not commit together)
 */
export async function readObjectVersion(
  store: Pick<Store, 'rows'>,
  asked: RequestedVersion & { metadataOnly: boolean },
  options: QueryOptions,
): Promise<ObjectVersion> {
  const { projectId, objectId, metadataOnly } = asked
  const version = await withoutAlias(store, asked, options)
  const content = (digest: string) =>
    store.rows<ContentRow>(contentQuery(projectId, objectId, digest, !metadataOnly), options)
  const { digest } = matches(version)
  const [[row], early] = await Promise.all([
    store.rows<VersionRow>(versionQuery(projectId, objectId, version), options),
    digest === null ? [] : content(digest),
  ])
  const found = live(asked, row)
  const ofKind = (rows: ContentRow[]) => rows.find((row) => row.kind === found.kind)
  let stored = ofKind(early) ?? ofKind(await content(found.digest))
  if (stored === undefined) {
    await again(50)
    stored = ofKind(await content(found.digest))
  }
  if (stored === undefined) throw fault(503, `The content of ${objectId}:${asked.version} is not readable yet`)
  return {
    objectId,
    kind: found.kind,
    digest: found.digest,
    createdUs: Number(found.created_us),
    versionIndex: found.version_index,
    isLatest: Number(found.latest_rank) === 1,
    userId: found.creator,
    baseClass: stored.base_object_class,
    leafClass: stored.leaf_object_class,
    val: stored.val,
  }
}
