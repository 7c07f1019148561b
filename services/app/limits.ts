// Limits and usage of this process: accounts of requests, the ports that charge them, and what is written every minute.
import type { Registry } from 'prom-client'
import type { EntityLimits } from '../../schemas/project-settings.ts'
import type { Audit } from '../core/audit/audit.ts'
import type { Clock } from '../core/clock/clock.ts'
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import type { Directory } from '../core/directory/directory.ts'
import { bucketsOfKey } from '../core/directory/state.ts'
import { type Accounts, createAccounts, type LimitSettings } from '../core/http/rates/accounts.ts'
import { createMeter } from '../core/http/rates/meter.ts'
import { createQuotas } from '../core/http/rates/quotas.ts'
import { uuidv7 } from '../core/ids.ts'
import type { Log, RecordInput } from '../core/log/log.ts'
import type { Logger } from '../core/process/logger.ts'
import { metricsIn } from '../core/process/metrics-in.ts'
import { type Amount, runningAccount } from '../core/process/running-handler.ts'
import type { Query, QueryOptions, Store } from '../core/store/store.ts'
import { usageRecords } from '../events/usage.ts'
import { acceptedBytes } from '../query/usage/accepted.ts'
import { storedBytesOf } from '../query/usage/stored.ts'
import type { Config } from './config.ts'
import { observeUsage } from './usage-metrics.ts'

type LimitDeps = {
  directory: Pick<Directory, 'state'>
  log: Log
  store: Store
  clock: Clock
  config: Pick<
    Config,
    'edges' | 'quotaStatus' | 'metricsProjects' | 'queryTimeoutMs' | 'queryMemoryBytes' | 'queryRows'
  >
  logger: Pick<Logger, 'warn'>
  registry: Registry
  audit: Pick<Audit, 'record'>
  /** Milliseconds since 1970. */
  now?: () => number
}

export type ProcessLimits = {
  accounts: Accounts
  settings: LimitSettings
  /** The ports as requests have them: what goes through them is charged to the request that runs. */
  log: Log
  store: Store
  /** Writes what was not written yet. */
  close(): Promise<void>
}

const everyMs = 60_000

/** Bytes and calls of records by project; of rows that do not say whose they are nothing is known. */
function amountsOf(records: readonly Pick<RecordInput, 'projects' | 'begun'>[]): Map<string, Amount> {
  const amounts = new Map<string, Amount>()
  for (const { projects, begun } of records)
    for (const [projectId, bytes] of projects ?? []) {
      const before = amounts.get(projectId)
      const calls = begun?.get(projectId) ?? 0
      amounts.set(projectId, { bytes: (before?.bytes ?? 0) + bytes, calls: (before?.calls ?? 0) + calls })
    }
  return amounts
}

const least = (own: number | undefined, ofServer: number): number | undefined =>
  own ? (ofServer === 0 ? own : Math.min(own, ofServer)) : undefined

export async function openLimits(deps: LimitDeps): Promise<ProcessLimits> {
  const { directory, log, store, clock, config, logger, registry, audit, now = Date.now } = deps
  const settings: LimitSettings = {
    ofKey: (id) => bucketsOfKey(directory.state(), id),
    ofProject: (id) => directory.state().projects.get(id)?.limits,
  }
  const process = uuidv7()
  const meter = createMeter({ now })
  const ofScope = (scope: string): EntityLimits | undefined =>
    scope.includes('/') ? settings.ofProject(scope) : directory.state().entities.get(scope)?.limits
  const quotas = createQuotas({
    *settings() {
      const { projects, entities } = directory.state()
      for (const [scope, { limits }] of [...projects, ...entities]) if (limits !== undefined) yield [scope, limits]
    },
    ofScope,
    now,
    dayBytes: (scope, sinceMinuteMs) => acceptedBytes(store, scope, { process, sinceMinuteMs }),
    storedBytes: (scope) => storedBytesOf(store, scope),
    onNear(scope, kind) {
      logger.warn({ scope, quota: kind }, 'four fifths of a quota are used')
      audit
        .record({ action: 'quota.near', scope, target: scope, details: { quota: kind } })
        .catch((error: unknown) => logger.warn({ error: String(error) }, 'a quota that is near was not recorded'))
    },
    onError: (error) => logger.warn({ error: error.message }, 'the usage of a quota was not read'),
  })
  const accounts = createAccounts({
    settings,
    quotas,
    meter,
    now,
    edges: config.edges,
    quotaStatus: Number(config.quotaStatus) as 403 | 429,
  })
  metricsIn(registry).value('callhouse_quota_near', 'Quotas of which four fifths are used', () => quotas.near().length)
  const count = observeUsage(registry, config.metricsProjects)

  async function write(): Promise<void> {
    const minutes = meter.take()
    if (minutes.length === 0) return
    try {
      await log.append(
        'usage',
        usageRecords(minutes, process, () => clock.next()),
      )
      count(minutes)
    } catch (error) {
      meter.putBack(minutes)
      logger.warn({ error: String(error), minutes: minutes.length }, 'usage was not written, trying again')
    }
  }
  await quotas.refresh()
  const queue = createSerialQueue()
  const work = (): void => {
    queue
      .run(async () => {
        await write()
        await quotas.refresh()
      })
      .catch((error: unknown) => logger.warn({ error: String(error) }, 'usage or quotas failed, trying again'))
  }
  const timer = setInterval(work, everyMs)
  timer.unref()

  const limited = (query: Query, options: QueryOptions = {}): QueryOptions => {
    const { projectId } = query
    if (projectId === undefined) return options
    runningAccount()?.read(projectId, options.pool ?? 'interactive')
    const limits = settings.ofProject(projectId)
    if (limits === undefined) return options
    const timeoutMs = least((limits.query_seconds ?? 0) * 1000, options.timeoutMs ?? config.queryTimeoutMs)
    const memoryBytes = least(limits.query_memory_bytes, options.memoryBytes ?? config.queryMemoryBytes)
    const maxRows = least(limits.query_rows, config.queryRows)
    return {
      ...options,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(maxRows !== undefined && { maxRows }),
    }
  }

  return {
    accounts,
    settings,
    log: {
      ...log,
      async append(topic, records) {
        const account = runningAccount()
        const amounts = amountsOf(records)
        const onEnd = account?.append(amounts)
        try {
          const position = await log.append(topic, records)
          if (account === undefined) accounts.appended(amounts)
          onEnd?.(true)
          return position
        } catch (error) {
          onEnd?.(false)
          throw error
        }
      },
    },
    store: {
      ...store,
      rows: async (query, options) => store.rows(query, limited(query, options)),
      bytes: async (query, format, options) => store.bytes(query, format, limited(query, options)),
    },
    async close() {
      clearInterval(timer)
      await queue.close()
      await write()
    },
  }
}
