// The edge alone: the real routes on the real durable log, with nobody applying it, over HTTP and gRPC. argv: data folder,
// and JSON of the limits and rules of masking of projects where these are measured.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createHistogram } from 'node:perf_hooks'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { loadConfig } from '../../services/app/config.ts'
import { openLimits } from '../../services/app/limits.ts'
import { noContent } from '../../services/content/content-port.ts'
import { createMaskings, noMaskings } from '../../services/content/masking/maskings.ts'
import { createOpObjects } from '../../services/content/op-objects.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { scopedKey } from '../../services/core/directory/items.ts'
import { createGrpcServer } from '../../services/core/grpc/server.ts'
import { createApp } from '../../services/core/http/app.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { createMetrics } from '../../services/core/process/metrics.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallWriteRoutes } from '../../services/ingest/calls/routes.ts'
import { createOtelGrpcMethods } from '../../services/ingest/otel/grpc.ts'
import { createOtelRoutes } from '../../services/ingest/otel/routes.ts'

export type OfProjects = { limits: Record<string, object>; masks: Record<string, object> }

const dir = process.argv[2] as string
mkdirSync(dir, { recursive: true })
const loaded = loadConfig({ env: {}, argv: ['--port', '0', '--data-dir', dir, '--keys', 'bench:bench-key'] })
if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
const { config } = loaded
const ofProjects: OfProjects | undefined = process.argv[3] === undefined ? undefined : JSON.parse(process.argv[3])
const segments = await createEmbeddedLog({
  topics,
  dir: join(dir, 'log'),
  maxUnappliedBytes: 2 ** 40,
  minFreeBytes: 0,
  retentionMs: 0,
})
const clock = createClock(undefined, segments.lastClock())
const logger = createLogger({ level: 'warn' }).log
const metrics = createMetrics()
const directory = openFileDirectory({ dataDir: dir })
for (const [project, limits] of Object.entries(ofProjects?.limits ?? {}))
  await directory.append([{ key: scopedKey('project', project), value: { limits } }], 'bench')
const limits =
  ofProjects &&
  (await openLimits({
    directory,
    log: segments,
    clock,
    config,
    logger,
    registry: metrics.registry,
    audit: { record: async () => undefined },
    // No quota is set: nothing is read.
    store: {} as Store,
  }))
const log = limits?.log ?? segments
const scopes = new Map(
  Object.entries(ofProjects?.masks ?? {}).map(([scope, rules]) => [scope, { rules: newMaskRules.parse(rules) }]),
)
const maskings = ofProjects ? createMaskings({ version: () => 1, scopes: () => scopes }) : noMaskings
const routes = [
  ...createCallWriteRoutes({
    maskings,
    log,
    clock,
    content: noContent,
    wirePrefix: 'platform',
    wireAliases: true,
  }),
  ...createOtelRoutes({
    maskings,
    onFaults: () => {},
    log,
    clock,
    content: noContent,
    opObjects: createOpObjects({ log, clock }),
    config,
  }),
]
const isShuttingDown = () => false
const keys = openKeys({ dataDir: dir, configured: config.keys })
const accounts = limits && { accounts: limits.accounts }
const http = createApp({ ...accounts, routes, config, keys, log: logger, metrics, version: 'bench', isShuttingDown })
const grpc = createGrpcServer({
  ...http.shared,
  methods: createOtelGrpcMethods({ routes, isShuttingDown }),
  maxBodyBytes: config.maxBodyBytes,
  requestTimeoutMs: config.requestTimeoutMs,
  log: logger,
  metrics: metrics.grpc,
  hint: () => 'gRPC',
  isShuttingDown,
})
const grpcPort = await grpc.listen(0, '127.0.0.1')
process.stdout.write(`{"grpc":${grpcPort},"port":${await http.listen()}}\n`)
// Time on the processor, not on the clock: on a busy machine the thread stands still without doing anything.
const usedUs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
const delay = createHistogram()
let beforeUs = usedUs()
setInterval(() => {
  const nowUs = usedUs()
  delay.record(Math.max(1, nowUs - beforeUs))
  beforeUs = nowUs
}, 1)
/** Tells how late the event loop was since it was last asked. */
process.on('SIGUSR2', () => {
  process.stdout.write(`{"delayP99Ms":${delay.percentile(99) / 1e3}}\n`)
  delay.reset()
})
process.on('SIGTERM', async () => {
  await log.close()
  process.exit(0)
})
