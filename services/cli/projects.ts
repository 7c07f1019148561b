// `callhouse projects`: those that there are, what is set for them, and their end.
import { limitsRequest, type ProjectSettingsResponse, retentionRequest } from '../../schemas/project-settings.ts'
import type { ProjectDeleteResponse, ProjectsQueryResponse } from '../../schemas/projects.ts'
import type { Config } from '../app/config.ts'
import { isScope } from '../core/directory/roles.ts'
import { quantity } from '../core/quantity.ts'
import { withRoutes } from './ask-route.ts'
import { print, printJson, UsageError } from './command.ts'
import { limitsFrom } from './limit-words.ts'

const atOnce = 1_000
const retentionNames: readonly string[] = Object.keys(retentionRequest.shape)
const limitNames = Object.keys(limitsRequest.shape)

/** @throws UsageError for what is no `<entity>/<project>` */
export function paramsOf(project: string): { entity: string; project: string } {
  if (!isScope(project) || !project.includes('/'))
    throw new UsageError(`${JSON.stringify(project)} is not <entity>/<project>`)
  const slash = project.indexOf('/')
  return { entity: project.slice(0, slash), project: project.slice(slash + 1) }
}

/** Those with calls or objects, in the order of their names. @param search a part of the name, '' for all */
export async function printProjects(config: Config, search: string): Promise<void> {
  await withRoutes(config, async (ask) => {
    for (let offset = 0; ; offset += atOnce) {
      const sort_by = [{ field: 'project_id', direction: 'asc' }]
      const body = { search: search || undefined, sort_by, limit: atOnce, offset }
      const { projects, total } = await ask<ProjectsQueryResponse>('projects.query', body)
      for (const { project_id, calls, last_call_at } of projects)
        print(
          [project_id, quantity(calls, 'call'), ...(last_call_at === null ? [] : [`last ${last_call_at}`])].join('  '),
        )
      if (offset + atOnce >= total) return
    }
  })
}

export async function showProject(config: Config, project: string): Promise<void> {
  const params = paramsOf(project)
  await withRoutes(config, async (ask) => {
    const { limits } = await ask<ProjectSettingsResponse>('projects.settings_read', null, params)
    const retention = await ask<object>('projects.retention_read', null, params)
    const masking = await ask<object>('masking.read', null, params)
    printJson({ project_id: project, retention, limits, masking })
  })
}

/** `calls_days=30`, `none` for ever, or what becomes of feedback. */
function daysFrom(word: string): [name: string, days: number | string | null] {
  if (word === 'feedback=keep' || word === 'feedback=with_calls') return ['feedback', word.slice('feedback='.length)]
  const [, name = '', value = ''] = /^(\w+)=(\d{1,5}|none)$/.exec(word) ?? []
  if (!retentionNames.includes(name) || name === 'feedback')
    throw new UsageError(`${JSON.stringify(word)} is not <name>=<days>, <name>=none or feedback=keep|with_calls`)
  return [name, value === 'none' ? null : Number(value)]
}

/** Sets these and leaves the others. */
export async function setProject(config: Config, [project = '', ...words]: string[]): Promise<void> {
  const params = paramsOf(project)
  const isDays = (word: string) => retentionNames.includes(word.split('=')[0] as string)
  const days = Object.fromEntries(words.filter(isDays).map(daysFrom))
  const limits = limitsFrom(
    words.filter((word) => !isDays(word)),
    limitNames,
    retentionNames,
  )
  await withRoutes(config, async (ask) => {
    const set = await ask<ProjectSettingsResponse>('projects.settings_read', null, params)
    if (Object.keys(days).length > 0) await ask('projects.retention_update', { ...set.retention, ...days }, params)
    if (Object.keys(limits).length > 0) await ask('projects.limits_update', { ...set.limits, ...limits }, params)
    printJson(await ask('projects.settings_read', null, params))
  })
}

/** @param confirm the project once more: nothing brings it back */
export async function removeProject(config: Config, project: string, confirm: string): Promise<void> {
  const params = paramsOf(project)
  if (confirm !== project)
    throw new UsageError(`This permanently removes all data of ${project}. Confirm with --confirm ${project}`)
  await withRoutes(config, async (ask) => {
    const body = { confirm }
    const removed = await ask<ProjectDeleteResponse>('projects.delete', body, params)
    print(`${project} is closed; its data is removed by ${removed.deadline}: erasure ${removed.erasure_id}`)
  })
}
