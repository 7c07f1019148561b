// What an operator sets for a project: read and replaced as items of the directory.
import { limitsRequest, projectLimits, projectSettingsResponse } from '../../../schemas/project-settings.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { maxItemBytes } from '../../core/directory/items.ts'
import { settingChange } from '../../core/directory/settings.ts'
import { type Route, route } from '../../core/http/route.ts'

export type SettingsDeps = { directory: Pick<Directory, 'state' | 'append'> }

type Params = { entity?: string; project?: string }
const named = ({ entity, project }: Params): string => `${entity}/${project}`

export function createSettingsRoutes({ directory }: SettingsDeps): Route[] {
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
        await directory.append([settingChange(directory.state(), projectId, { limits: input })], caller.userId)
        return { json: input }
      },
    }),
  ]
}
