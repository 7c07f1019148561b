// The answer of `GET /server/status` about this process, computed for each request.
import { statfs } from 'node:fs/promises'
import { requiredFreeBytes } from '../core/files/free-space.ts'
import type { Log } from '../core/log/log.ts'
import type { Metrics } from '../core/process/metrics.ts'
import type { ReadTimes } from '../core/store/read-times.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import type { HealthChecks } from '../query/service/routes.ts'
import type { OperatorDeps } from '../query/service/server-routes.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import type { Config } from './config.ts'
import { hasEmbeddedStore } from './drivers.ts'
import type { Applying } from './worker-role.ts'

type StatusDeps = {
  version: string
  role: string
  config: Config
  log: Pick<Log, 'topics' | 'end' | 'lag' | 'health'>
  store: Pick<Store, 'rows'>
  times: Pick<ReadTimes, 'slowest'>
  metrics: Pick<Metrics, 'refusals' | 'eventLoopP99Ms'>
  deadLetters: Pick<DeadLetters, 'list'>
  lags: Applying['lags'] | undefined
  health(): Promise<HealthChecks>
}

type Status = Awaited<ReturnType<OperatorDeps['status']>>

const shownReads = 20
/** Dead letters are listed whole to be counted: pages that ask every few seconds get the same answer. */
const countedForMs = 15_000

const rounded = (ms: number): number => Math.round(Math.max(0, ms))

async function topicsOf(log: StatusDeps['log']): Promise<Status['topics']> {
  const lags = Map.groupBy(log.lag(), ({ topic }) => topic)
  return Promise.all(
    log.topics.map(async (topic) => {
      const end = (await log.end(topic)).reduce((sum, { offset }) => sum + offset, 0)
      const of = lags.get(topic) ?? []
      const waiting = of.reduce((sum, { records }) => sum + records, 0)
      return {
        topic,
        end,
        applied: Math.max(0, end - waiting),
        lag_ms: rounded(Math.max(0, ...of.map(({ ageMs }) => ageMs))),
        unapplied_bytes: of.reduce((sum, { bytes }) => sum + bytes, 0),
      }
    }),
  )
}

type Disk = { free: number; total: number }

async function diskOf({ config, store }: StatusDeps): Promise<Disk | undefined> {
  if (hasEmbeddedStore(config)) {
    const space = await statfs(config.dataDir).catch(() => undefined)
    return space && { free: space.bavail * space.bsize, total: space.blocks * space.bsize }
  }
  const disks = await store.rows<Disk>(statement('status.disks'))
  return disks[0]
}

async function storeOf(deps: StatusDeps): Promise<Status['store']> {
  const { config, store } = deps
  const isEmbedded = hasEmbeddedStore(config)
  const [[found], disk] = await Promise.all([
    store.rows<{ version: string; bytes: number; parts: number }>(
      statement('status.store', { database: isEmbedded ? 'callhouse' : config.clickhouseDatabase }),
    ),
    diskOf(deps),
  ])
  if (found === undefined) return null
  return {
    kind: isEmbedded ? 'embedded' : 'server',
    ...found,
    free_bytes: disk?.free ?? null,
    disk_bytes: disk?.total ?? null,
    stops_at_bytes: isEmbedded && disk ? Math.round(requiredFreeBytes(disk.total, config.minFreeBytes)) : null,
  }
}

export function createStatus(deps: StatusDeps): OperatorDeps['status'] {
  const { version, role, config, log, times, metrics, deadLetters, lags, health } = deps
  const startedAt = new Date(performance.timeOrigin).toISOString()
  let counted: { atMs: number; letters: Promise<Status['dead_letters']> } | undefined
  const letters = async (): Promise<Status['dead_letters']> => {
    const all = await deadLetters.list()
    return { count: all.length, latest_at: all.at(-1)?.at ?? null }
  }
  const lettersNow = (): Promise<Status['dead_letters']> => {
    if (counted === undefined || Date.now() - counted.atMs > countedForMs)
      counted = { atMs: Date.now(), letters: letters() }
    return counted.letters
  }
  return async () => {
    const { reasons, lagMs, ...checks } = await health()
    const { rss, heapUsed } = process.memoryUsage()
    const { statuses, policies } = metrics.refusals()
    const [topics, dead_letters, store, lateMs] = await Promise.all([
      topicsOf(log),
      lettersNow(),
      // The checks say why it does not answer.
      storeOf(deps).catch(() => null),
      metrics.eventLoopP99Ms(),
    ])
    const known = Object.entries(reasons ?? {}).flatMap(([check, reason]) => (reason ? [[check, reason] as const] : []))
    return {
      version,
      role,
      started_at: startedAt,
      checks,
      ...(known.length > 0 && { reasons: Object.fromEntries(known) }),
      lag_ms: rounded(lagMs),
      unapplied: { bytes: log.health().unappliedBytes, limit_bytes: config.maxUnappliedBytes },
      topics,
      dead_letters,
      store,
      rollups: (lags?.() ?? []).map(({ name, lagMs, isBuilding }) => ({
        name,
        lag_ms: rounded(lagMs),
        is_building: isBuilding,
      })),
      process: { rss_bytes: rss, heap_bytes: heapUsed, event_loop_p99_ms: Math.round(lateMs * 10) / 10 },
      queries: times
        .slowest(shownReads)
        .map(({ name, path, count, p50Ms, p95Ms }) => ({ name, path, count, p50_ms: p50Ms, p95_ms: p95Ms })),
      refused: statuses,
      refused_policies: policies,
    }
  }
}
