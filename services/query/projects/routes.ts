// Routes about a project as a whole: its stored bytes and how long its calls are kept.
import {
  projectStatsRequest,
  projectStatsResponse,
  projectsQueryRequest,
  projectsQueryResponse,
  ttlSettingsReadRequest,
  ttlSettingsResponse,
  ttlSettingsUpdateRequest,
} from '../../../schemas/projects.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { listProjects } from './list.ts'
import { sizes } from './sizes.ts'

export type ProjectDeps = { store: Pick<Store, 'rows'>; freshness: Freshness }

/** Calls are kept until they are deleted. */
const keptForever = { retention_days: null }

export function createProjectRoutes({ store, freshness }: ProjectDeps): Route[] {
  return [
    route({
      name: 'projects.stats',
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
      summary: 'Projects that the key may read, with their calls and errors of the last day',
      body: { type: 'json', schema: projectsQueryRequest, check: 'schema' },
      response: projectsQueryResponse,
      tables: ['call_counts', 'call_counts_hourly', 'call_stats', 'call_marks', 'objects'],
      async handle(context) {
        const { input, caller, signal } = context
        const headers = await freshness.wait(context, ['calls', 'objects'])
        return { json: await listProjects(store, input, caller, { signal }), headers }
      },
    }),
    route({
      name: 'projects.ttl_settings_read',
      method: 'POST',
      path: '/project/ttl_settings/read',
      summary: 'Days after which calls of a project expire: null, they never do',
      body: { type: 'json', schema: ttlSettingsReadRequest, check: 'schema' },
      response: ttlSettingsResponse,
      tables: [],
      async handle(context) {
        context.project(context.input.project_id)
        return { json: keptForever }
      },
    }),
    route({
      name: 'projects.ttl_settings_update',
      method: 'POST',
      path: '/project/ttl_settings/update',
      summary: 'Keeps the calls of a project for ever: 400 for a number of days',
      body: { type: 'json', schema: ttlSettingsUpdateRequest, check: 'schema' },
      response: ttlSettingsResponse,
      topics: [],
      async handle(context) {
        const { input } = context
        context.project(input.project_id)
        if (input.retention_days != null) throw fault(400, 'Calls do not expire here: delete them with /calls/delete')
        return { json: keptForever }
      },
    }),
  ]
}
