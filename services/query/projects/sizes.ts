// Stored bytes of a project, by what is stored: sums over narrow columns, no text is read.
import type { ProjectId } from '../../core/ids.ts'
import { sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { totalFileBytes } from '../files/read.ts'
import { versions } from '../objects/versions.ts'

type Source = { store: Pick<Store, 'rows'>; projectId: ProjectId; options: QueryOptions }

/** Calls as `include_total_storage_size` counts them, of all traces at once; deleted ones do not count. */
export const callsQuery = (projectId: ProjectId): Query =>
  projectQuery('projects.call-bytes', projectId, (project) => {
    const calls = project.from('calls', { alias: 'c', final: true, where: sql`c.delete_ver = 0 AND c.moved = 0` })
    return sql`SELECT toString(sum(c.start_bytes + c.end_bytes)) AS bytes ${calls}`
  })

/** The live versions of objects and ops, each with the bytes that lists of objects tell. */
export const objectsQuery = (projectId: ProjectId): Query =>
  projectQuery('projects.object-bytes', projectId, (project) => {
    const live = sql`SELECT object_id, kind, digest FROM (${versions(project, sql`1`)}) WHERE live`
    return sql`SELECT toString(sum(c.size_bytes)) AS bytes ${project.from('objects', {
      alias: 'c',
      final: true,
      where: sql`(c.object_id, c.kind, c.digest) IN (${live})`,
    })}`
  })

/** Rows of tables: however many tables hold a row, it is stored once. */
export const tablesQuery = (projectId: ProjectId): Query =>
  projectQuery(
    'projects.table-bytes',
    projectId,
    (project) => sql`SELECT toString(sum(size_bytes)) AS bytes ${project.from('table_rows', { final: true })}`,
  )

const sumOf =
  (query: (projectId: ProjectId) => Query) =>
  async ({ store, projectId, options }: Source): Promise<number> => {
    const [row] = await store.rows<{ bytes: string }>(query(projectId), options)
    return Number(row?.bytes ?? 0)
  }

/** The measured data: its topic, and its bytes. */
export const sizes = {
  calls: sumOf(callsQuery),
  objects: sumOf(objectsQuery),
  tables: sumOf(tablesQuery),
  files: ({ store, projectId, options }: Source) => totalFileBytes(store, projectId, options),
} as const
