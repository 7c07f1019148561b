// The edge alone: the real routes on the real durable log, with nobody applying it, over HTTP and gRPC. argv: data folder.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../services/app/config.ts'
import { noContent } from '../../services/content/content-port.ts'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createOpObjects } from '../../services/content/op-objects.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createGrpcServer } from '../../services/core/grpc/server.ts'
import { createApp } from '../../services/core/http/app.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { createMetrics } from '../../services/core/process/metrics.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallWriteRoutes } from '../../services/ingest/calls/routes.ts'
import { createOtelGrpcMethods } from '../../services/ingest/otel/grpc.ts'
import { createOtelRoutes } from '../../services/ingest/otel/routes.ts'

const dir = process.argv[2] as string
mkdirSync(dir, { recursive: true })
const loaded = loadConfig({ env: {}, argv: ['--port', '0', '--data-dir', dir, '--keys', 'bench:bench-key'] })
if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
const { config } = loaded
const log = await createEmbeddedLog({
  topics,
  dir: join(dir, 'log'),
  maxUnappliedBytes: 2 ** 40,
  minFreeBytes: 0,
  retentionMs: 0,
})
const clock = createClock(undefined, log.lastClock())
const routes = [
  ...createCallWriteRoutes({
    maskings: noMaskings,
    log,
    clock,
    content: noContent,
    wirePrefix: 'platform',
    wireAliases: true,
  }),
  ...createOtelRoutes({
    maskings: noMaskings,
    log,
    clock,
    content: noContent,
    opObjects: createOpObjects({ log, clock }),
    config,
  }),
]
const metrics = createMetrics()
const logger = createLogger({ level: 'warn' }).log
const isShuttingDown = () => false
const keys = openKeys({ dataDir: dir, configured: config.keys })
const http = createApp({ routes, config, keys, log: logger, metrics, version: 'bench', isShuttingDown })
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
process.on('SIGTERM', async () => {
  await log.close()
  process.exit(0)
})
