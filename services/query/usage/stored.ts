// Bytes that projects and entities have stored, for quotas.
import type { ProjectId } from '../../core/ids.ts'
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { Store } from '../../core/store/store.ts'
import { sizes } from '../projects/sizes.ts'

export const projectsOfEntityQuery = (entity: string) =>
  systemQuery(
    'usage.projects-of-entity',
    sql`SELECT DISTINCT project_id FROM (
      SELECT project_id FROM callhouse.call_counts_hourly UNION ALL SELECT project_id FROM callhouse.usage_minutes
      UNION ALL SELECT project_id FROM callhouse.objects UNION ALL SELECT project_id FROM callhouse.files
    ) WHERE startsWith(project_id, ${param('String', `${entity}/`)})`,
  )

/** @param scope project or entity */
export async function storedBytesOf(store: Pick<Store, 'rows'>, scope: string): Promise<number> {
  const options = { pool: 'background' } as const
  const rows = scope.includes('/')
    ? [{ project_id: scope }]
    : await store.rows<{ project_id: string }>(projectsOfEntityQuery(scope), options)
  let bytes = 0
  for (const { project_id: projectId } of rows)
    for (const sizeOf of Object.values(sizes))
      bytes += await sizeOf({ store, projectId: projectId as ProjectId, options })
  return bytes
}
