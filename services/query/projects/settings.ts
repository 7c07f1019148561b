// Settings of a project by an operator: read and replaced as items of the directory.
import {
  limitsRequest,
  projectLimits,
  projectSettingsResponse,
  retentionRequest,
  retentionResponse,
  retentionSettings,
} from '../../../schemas/project-settings.ts'
import { ttlSettingsReadRequest, ttlSettingsResponse, ttlSettingsUpdateRequest } from '../../../schemas/projects.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { heldOf, isHeld } from '../../core/directory/holds.ts'
import { maxItemBytes, type Value } from '../../core/directory/items.ts'
import {
  createCutoffsOf,
  type RetentionDays,
  type RetentionSource,
  retentionOf,
} from '../../core/directory/retention.ts'
import { settingChange } from '../../core/directory/settings.ts'
import { unavailable } from '../../core/errors.ts'
import { fault } from '../../core/http/errors.ts'
import { appendFor } from '../../core/http/room.ts'
import { type Caller, type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, queryOfProject, sql } from '../../core/store/sql.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import { isWhollyHeld } from './held.ts'

export type SettingsDeps = {
  directory: Pick<Directory, 'state' | 'append'>
  retention: RetentionSource
  store: Pick<Store, 'rows'>
  config: { purgeDays: number }
}

type Params = { entity?: string; project?: string }
const named = ({ entity, project }: Params): string => `${entity}/${project}`

/** Calls of the project that are hidden and not removed yet. */
async function hiddenCalls(
  store: Pick<Store, 'rows'>,
  projectId: ProjectId,
  beforeUs: number | undefined,
  options: QueryOptions,
): Promise<number> {
  if (beforeUs === undefined) return 0
  // Not by `projectQuery`, which shows what is not hidden.
  const query = queryOfProject<'call_counts_hourly'>('projects.hidden-calls', projectId, (project) => {
    const where = sql`hour < toDateTime(${param('Int64', beforeUs / 1e6)}, 'UTC')`
    return sql`SELECT toFloat64(sum(calls)) AS n ${project.from('call_counts_hourly', { final: true, where })}`
  })
  const [row] = await store.rows<{ n: number }>(query, options)
  return Number(row?.n ?? 0)
}

/** @throws Fault 422 when payloads would be kept for longer than their calls */
function throwUnlessInOrder(days: RetentionDays, source: RetentionSource): void {
  const { calls_days, payloads_days } = retentionOf({ ...source, of: () => days }, '')
  if (calls_days !== null && payloads_days !== null && payloads_days > calls_days)
    throw fault(422, `payloads_days (${payloads_days}) is more than the days of calls (${calls_days})`)
}

/** Changes the settings of a project, one change after the other: each replaces a whole item, and holds what it leaves as it is. */
type SettingsChange = {
  set(caller: Caller, projectId: ProjectId, value: Value<'project'>): Promise<void>
  retention(caller: Caller, projectId: ProjectId, make: (before: RetentionDays) => RetentionDays): Promise<void>
}

function settingsChange({ directory, retention }: SettingsDeps): SettingsChange {
  const queue = createSerialQueue(() => unavailable('The server is shutting down'))
  const cutoffsOf = createCutoffsOf(retention)
  return {
    set: (caller, projectId, value) =>
      queue.run(() => appendFor(directory, [settingChange(directory.state(), projectId, value)], caller)),
    retention: (caller, projectId, make) =>
      queue.run(async () => {
        const state = directory.state()
        const before = state.projects.get(projectId)?.retention ?? {}
        const removed = cutoffsOf(projectId)?.payloadsUs
        const days = { ...make(before), ...(removed !== undefined && { payloads_removed_us: removed }) }
        throwUnlessInOrder(days, retention)
        await appendFor(directory, [settingChange(state, projectId, { retention: days })], caller)
      }),
  }
}

const ttlReadRoute = ({ retention }: SettingsDeps): Route =>
  route({
    name: 'projects.ttl_settings_read',
    method: 'POST',
    path: '/project/ttl_settings/read',
    summary: 'Retention of calls of the project in days; null = forever',
    body: { type: 'json', schema: ttlSettingsReadRequest, check: 'schema', maxBytes: maxItemBytes },
    response: ttlSettingsResponse,
    tables: [],
    async handle(context) {
      const projectId = context.project(context.input.project_id)
      return { json: { retention_days: retentionOf(retention, projectId).calls_days } }
    },
  })

const ttlUpdateRoute = (change: SettingsChange): Route =>
  route({
    name: 'projects.ttl_settings_update',
    method: 'POST',
    path: '/project/ttl_settings/update',
    summary: 'Sets the retention of calls of the project in days; null = forever',
    body: { type: 'json', schema: ttlSettingsUpdateRequest, check: 'schema', maxBytes: maxItemBytes },
    response: ttlSettingsResponse,
    topics: [],
    async handle(context) {
      const { input, caller } = context
      const projectId = context.project(input.project_id)
      const days = input.retention_days ?? null
      await change.retention(caller, projectId, (before) => ({ ...before, calls_days: days }))
      return { json: { retention_days: days } }
    },
  })

const retentionUpdateRoute = (change: SettingsChange): Route =>
  route({
    name: 'projects.retention_update',
    method: 'PUT',
    path: '/v2/{entity}/{project}/settings/retention',
    summary:
      'Sets the retention of calls, payloads, statistics and log records of a project, replacing earlier settings; null = forever',
    body: { type: 'json', schema: retentionRequest, check: 'schema', maxBytes: maxItemBytes },
    response: retentionSettings,
    topics: [],
    async handle(context) {
      const { input, caller } = context
      await change.retention(caller, context.project(named(context.params)), () => input)
      return { json: input }
    },
  })

function retentionReadRoute({ directory, retention, store, config }: SettingsDeps): Route {
  const cutoffsOf = createCutoffsOf(retention)
  return route({
    name: 'projects.retention_read',
    method: 'GET',
    path: '/v2/{entity}/{project}/retention',
    summary: 'What retention hides of a project, and when it is deleted',
    body: { type: 'none' },
    response: retentionResponse,
    tables: ['call_counts_hourly', 'calls', 'call_keys', 'call_patches'],
    async handle(context) {
      const projectId = context.project(named(context.params))
      const { removed: _, ...days } = retentionOf(retention, projectId)
      const cutoffs = cutoffsOf(projectId) ?? {}
      const state = directory.state()
      const options = { signal: context.signal }
      const isAllHeld = await isWhollyHeld(store, projectId, heldOf(state, projectId, Date.now()), options)
      const timeOf = (us: number | undefined) => (us === undefined ? null : new Date(us / 1_000).toISOString())
      return {
        json: {
          ...days,
          defaults: { calls_days: retention.defaultDays || null, logs_days: retention.logsDays },
          calls_before: timeOf(cutoffs.callsUs),
          payloads_before: timeOf(cutoffs.payloadsUs ?? cutoffs.callsUs),
          stats_before: timeOf(cutoffs.statsUs),
          logs_before: timeOf(cutoffs.logsUs),
          held: isHeld(state, projectId),
          hidden_calls: await hiddenCalls(store, projectId, cutoffs.callsUs, options),
          removed_within_days: isAllHeld ? null : 1,
          bytes_within_days: isAllHeld ? null : config.purgeDays + 1,
        },
      }
    },
  })
}

const settingsReadRoute = ({ directory }: SettingsDeps): Route =>
  route({
    name: 'projects.settings_read',
    method: 'GET',
    path: '/v2/{entity}/{project}/settings',
    summary: 'The settings of a project: retention and limits',
    body: { type: 'none' },
    response: projectSettingsResponse,
    tables: [],
    async handle(context) {
      const set = directory.state().projects.get(context.project(named(context.params)))
      const { payloads_removed_us: _, ...days } = set?.retention ?? {}
      return { json: { retention: days, limits: set?.limits ?? {} } }
    },
  })

const limitsUpdateRoute = (change: SettingsChange): Route =>
  route({
    name: 'projects.limits_update',
    method: 'PUT',
    path: '/v2/{entity}/{project}/settings/limits',
    summary: 'Sets the limits and quotas of a project, replacing earlier ones; 0 = no limit',
    body: { type: 'json', schema: limitsRequest, check: 'schema', maxBytes: maxItemBytes },
    response: projectLimits,
    topics: [],
    async handle(context) {
      const { input, caller } = context
      await change.set(caller, context.project(named(context.params)), { limits: input })
      return { json: input }
    },
  })

export function createSettingsRoutes(deps: SettingsDeps): Route[] {
  const change = settingsChange(deps)
  return [
    ttlReadRoute(deps),
    ttlUpdateRoute(change),
    retentionUpdateRoute(change),
    retentionReadRoute(deps),
    settingsReadRoute(deps),
    limitsUpdateRoute(change),
  ]
}
