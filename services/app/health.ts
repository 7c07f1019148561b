// The answer of /health: the state of each part of a process, and reasons.
import type { Keys } from '../core/http/keys.ts'
import type { Log } from '../core/log/log.ts'
import type { Store } from '../core/store/store.ts'
import type { openProviders } from '../inference/providers.ts'
import type { HealthChecks } from '../query/service/routes.ts'
import type { AppliedWatch } from '../worker/applied/watch.ts'
import type { openEdgeNumber } from './drivers.ts'
import type { Applying } from './worker-role.ts'

type Parts = {
  log: Pick<Log, 'health'>
  store: Pick<Store, 'health'>
  edge: Pick<Awaited<ReturnType<typeof openEdgeNumber>>, 'problem'>
  applied: Pick<AppliedWatch, 'missing'>
  keys: Pick<Keys, 'problem'>
  providers: Pick<ReturnType<typeof openProviders>, 'problem'>
  applying: Applying | undefined
  /** Topics that keep records for too long. */
  topics?: { problem(): string | undefined } | undefined
}

export async function healthOf({
  log,
  store,
  edge,
  applied,
  keys,
  providers,
  applying,
  topics,
}: Parts): Promise<HealthChecks> {
  const { status, lagMs, lost: gone } = log.health()
  const workers = applying?.worker.status() ?? { status: 'ok' as const }
  const storage = await store.health()
  // Read without a key: only what names no path and quotes nothing.
  const parts = storage.status === 'degraded' ? storage.reason : undefined
  const lost = applied.missing()
  const missing = [parts, applying?.missing(), lost].filter(Boolean).join('; ')
  const files = {
    keys: keys.problem() && 'the directory of keys cannot be read; what was read before counts',
    providers: providers.problem() && 'the providers file cannot be used; the one before stays',
    topics: topics?.problem(),
  }
  const lapsed = edge.problem() ?? undefined
  const logStatus = status === 'ok' && lapsed !== undefined ? 'degraded' : status
  const reasons = {
    log: [lapsed, gone].filter(Boolean).join('; ') || undefined,
    storage: missing || undefined,
    workers: workers.reason,
    ...files,
  }
  const stored = lost && storage.status === 'ok' ? 'degraded' : storage.status
  const checks = { log: logStatus, storage: stored, workers: workers.status }
  const broken = Object.entries(files).flatMap(([name, reason]) => (reason ? [[name, 'degraded' as const]] : []))
  return { ...checks, ...Object.fromEntries(broken), reasons, lagMs }
}
