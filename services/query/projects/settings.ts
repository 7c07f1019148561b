// What an operator sets for a project: read and replaced as items of the directory.
import { limitsRequest, projectLimits, projectSettingsResponse } from '../../../schemas/project-settings.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { maxItemBytes, type Value } from '../../core/directory/items.ts'
import { settingChange } from '../../core/directory/settings.ts'
import { unavailable } from '../../core/errors.ts'
import { type Caller, type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'

export type SettingsDeps = { directory: Pick<Directory, 'state' | 'append'> }

type Params = { entity?: string; project?: string }
const named = ({ entity, project }: Params): string => `${entity}/${project}`

export function createSettingsRoutes({ directory }: SettingsDeps): Route[] {
  const queue = createSerialQueue(() => unavailable('The server is shutting down'))
  /** One after the other: each replaces the whole item, which holds what is not changed too. */
  const change = ({ userId }: Caller, projectId: ProjectId, value: Value<'project'>): Promise<void> =>
    queue.run(() => directory.append([settingChange(directory.state(), projectId, value)], userId))

  return [
    route({
      name: 'projects.settings_read',
      method: 'GET',
      path: '/v2/{entity}/{project}/settings',
      summary: 'What is set for a project: how long its data stays, and its limits',
      body: { type: 'none' },
      response: projectSettingsResponse,
      tables: [],
      async handle(context) {
        const { retention = {}, limits = {} } =
          directory.state().projects.get(context.project(named(context.params))) ?? {}
        return { json: { retention, limits } }
      },
    }),
    route({
      name: 'projects.limits_update',
      method: 'PUT',
      path: '/v2/{entity}/{project}/settings/limits',
      summary: 'Limits and quotas of a project: replaces those that were set; 0 = none',
      body: { type: 'json', schema: limitsRequest, check: 'schema', maxBytes: maxItemBytes },
      response: projectLimits,
      topics: [],
      async handle(context) {
        const { input, caller } = context
        const projectId = context.project(named(context.params))
        await change(caller, projectId, { limits: input })
        return { json: input }
      },
    }),
  ]
}
