// Tags and aliases of object versions, as far as they hold: those of a deleted version are gone, also after its revival.
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'

/**
 * One row per label that holds: object_id, digest, label_kind, label.
 * @param where condition on object_labels
 */
export const labels = (project: ProjectScope, where: Sql): Sql => {
  const set = sql`SELECT object_id, digest, label_kind, label, clock
    ${project.from('object_labels', { final: true, where: sql`is_set = 1 AND (${where})` })}`
  const named = sql`object_id IN (SELECT object_id ${project.from('object_labels', { where })})`
  const alive = sql`SELECT object_id, digest, maxIf(clock, event = 'deleted') AS newest_delete
    ${project.from('object_events', { where: named })}
    GROUP BY object_id, digest HAVING maxIf(clock, event = 'created') > newest_delete`
  return sql`SELECT l.object_id AS object_id, l.digest AS digest, l.label_kind AS label_kind, l.label AS label
    FROM (${set}) AS l INNER JOIN (${alive}) AS e ON l.object_id = e.object_id AND l.digest = e.digest
    WHERE l.clock > e.newest_delete`
}

export const ofObjectsQuery = (projectId: ProjectId, objectIds: readonly string[]): Query =>
  projectQuery(
    'objects.labels',
    projectId,
    (project) => sql`${labels(project, sql`object_id IN ${param('Array(String)', objectIds)}`)} ORDER BY label`,
  )

export const aliasQuery = (projectId: ProjectId, objectId: string, alias: string): Query =>
  projectQuery('objects.alias', projectId, (project) => {
    const of = sql`object_id = ${param('String', objectId)}`
    return labels(project, sql`${of} AND label_kind = 'alias' AND label = ${param('String', alias)}`)
  })

export const distinctQuery = (projectId: ProjectId, kind: 'tag' | 'alias'): Query =>
  projectQuery('objects.distinct-labels', projectId, (project) => {
    const ofKind = labels(project, sql`label_kind = ${param('String', kind)}`)
    return sql`SELECT DISTINCT label FROM (${ofKind}) ORDER BY label`
  })

export type VersionLabels = { tags: string[]; aliases: string[] }

type LabelRow = { object_id: string; digest: string; label_kind: 'tag' | 'alias'; label: string }

const keyOf = (objectId: string, digest: string): string => `${objectId}:${digest}`

/** The labels of each version of the objects; `of` gives those of one version, with the `latest` that every object has. */
export async function labelsOf(
  store: Pick<Store, 'rows'>,
  projectId: ProjectId,
  objectIds: readonly string[],
  options: QueryOptions,
): Promise<{ of(objectId: string, digest: string, isLatest: boolean): VersionLabels }> {
  const rows = await store.rows<LabelRow>(ofObjectsQuery(projectId, objectIds), options)
  const found = new Map<string, VersionLabels>()
  for (const { object_id, digest, label_kind, label } of rows) {
    const key = keyOf(object_id, digest)
    const known = found.get(key) ?? { tags: [], aliases: [] }
    found.set(key, known)
    if (label_kind === 'tag') known.tags.push(label)
    else known.aliases.push(label)
  }
  return {
    of(objectId, digest, isLatest) {
      const { tags, aliases } = found.get(keyOf(objectId, digest)) ?? { tags: [], aliases: [] }
      return { tags, aliases: isLatest ? ['latest', ...aliases] : aliases }
    },
  }
}

/** Digest of the version that an alias names; null when there is no such alias. */
export async function aliasDigest(
  store: Pick<Store, 'rows'>,
  asked: { projectId: ProjectId; objectId: string; alias: string },
  options: QueryOptions,
): Promise<string | null> {
  const [row] = await store.rows<LabelRow>(aliasQuery(asked.projectId, asked.objectId, asked.alias), options)
  return row?.digest ?? null
}

/** The distinct tags, or aliases, of a project. */
export async function distinctLabels(
  store: Pick<Store, 'rows'>,
  projectId: ProjectId,
  kind: 'tag' | 'alias',
  options: QueryOptions,
): Promise<string[]> {
  const rows = await store.rows<{ label: string }>(distinctQuery(projectId, kind), options)
  return rows.map(({ label }) => label)
}
