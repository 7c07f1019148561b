// Routes about a project as a whole: its stored bytes, and the projects of a key.
import {
  projectStatsRequest,
  projectStatsResponse,
  projectsQueryRequest,
  projectsQueryResponse,
} from '../../../schemas/projects.ts'
import type { RetentionSource } from '../../core/directory/retention.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { listProjects } from './list.ts'
import { sizes } from './sizes.ts'

export type ProjectDeps = { store: Pick<Store, 'rows'>; freshness: Freshness; retention: RetentionSource }

export function createProjectRoutes({ store, freshness, retention }: ProjectDeps): Route[] {
  return [
    route({
      name: 'projects.stats',
      countsAll: true,
      method: 'POST',
      path: '/project/stats',
      summary: 'Stored bytes of calls, objects, tables and files',
      body: { type: 'json', schema: projectStatsRequest, check: 'schema' },
      response: projectStatsResponse,
      tables: ['calls', 'objects', 'object_events', 'table_rows', 'files'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const asked = {
          calls: input.include_trace_storage_size,
          objects: input.include_object_storage_size,
          tables: input.include_table_storage_size,
          files: input.include_file_storage_size,
        }
        const kinds = (['calls', 'objects', 'tables', 'files'] as const).filter((kind) => asked[kind])
        const headers = await freshness.wait(context, kinds)
        const bytes = { calls: 0, objects: 0, tables: 0, files: 0 }
        for (const kind of kinds) bytes[kind] = await sizes[kind]({ store, projectId, options: { signal } })
        return {
          json: {
            trace_storage_size_bytes: bytes.calls,
            objects_storage_size_bytes: bytes.objects,
            tables_storage_size_bytes: bytes.tables,
            files_storage_size_bytes: bytes.files,
          },
          headers,
        }
      },
    }),
    route({
      name: 'projects.query',
      method: 'POST',
      path: '/projects/query',
      withoutProject: true,
      summary: 'Projects that the key can read, with their calls and errors of the last day',
      body: { type: 'json', schema: projectsQueryRequest, check: 'schema' },
      response: projectsQueryResponse,
      tables: ['call_counts', 'call_counts_hourly', 'call_stats', 'call_marks', 'objects'],
      async handle(context) {
        const { input, caller, signal } = context
        const headers = await freshness.wait(context, ['calls', 'objects'])
        return { json: await listProjects({ store, retention }, input, caller, { signal }), headers }
      },
    }),
  ]
}
