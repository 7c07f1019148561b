// The program of a request thread: the handlers of all routes, over ports of the thread that holds the engines.
import { parentPort, workerData } from 'node:worker_threads'
import { joinClock } from '../core/clock/clock.ts'
import { createCutoffsOf } from '../core/directory/retention.ts'
import { anonymous, runHandler } from '../core/http/handler.ts'
import { holderOf } from '../core/http/holder.ts'
import type { LongRequest } from '../core/http/long-requests.ts'
import type { Reply } from '../core/http/route.ts'
import { jsonInput } from '../core/http/serve.ts'
import { openMasterKey } from '../core/process/master-key.ts'
import type { Port } from '../core/threads/channel.ts'
import type { ThreadData } from '../core/threads/requests.ts'
import { serveRequests } from '../core/threads/serve-requests.ts'
import { openProviders } from '../inference/providers.ts'
import { readAuditOf } from './audit.ts'
import type { Config } from './config.ts'
import { hasSharedLog } from './drivers.ts'
import { maskingsOf } from './masks.ts'
import { does, type ServerRole } from './roles.ts'
import { routesOf } from './routes.ts'
import { ownSecrets } from './secrets.ts'
import { createFollowedRules } from './shared-rules.ts'

const { config, role, split, clock } = workerData as ThreadData<Config, ServerRole>

const ports = serveRequests(parentPort as Port, handle)
// The main thread tells of a file that breaks.
const providers = openProviders({ file: config.providersFile, onBroken() {}, onMended() {} }).current
const masterKey = openMasterKey(config, { mayMake: !hasSharedLog(config) })
const rules = createFollowedRules(ports.rules, config)
const cutoffsOf = createCutoffsOf(rules.retention)
// The process that applies the log runs evaluations, by all routes.
const { all } = routesOf(does(role, 'apply') ? 'serve' : role, {
  ...ports,
  config,
  providers,
  split,
  clock: joinClock(clock),
  masterKey,
  secrets: ownSecrets(rules.secrets, { config, masterKey }),
  retention: rules.retention,
  holds: rules.holds,
  maskings: maskingsOf(rules.masks, config, masterKey, ports.logger, ports.onMasked),
})
const readAudit = readAuditOf(ports.audit, config, ports.logger)
const routes = new Map(all.map((route) => [route.name, route]))

async function handle(request: LongRequest, bytes: Buffer, signal: AbortSignal): Promise<Reply> {
  const route = routes.get(request.route)
  if (route === undefined) throw new Error(`no route is named ${request.route}`)
  const { body } = route
  const { maxJsonDepth } = request
  const holder = request.entry === undefined ? anonymous : holderOf(request.entry, request.keyId)
  const input = body.type === 'json' ? jsonInput(body, bytes, maxJsonDepth) : undefined
  const read = { input, body: { bytes, contentType: request.contentType } }
  const requested = { ...request, clientIp: () => request.clientIp }
  await rules.follow()
  const account = ports.accountOf(request.number)
  return runHandler(route, requested, read, {
    holder,
    account,
    cutoffsOf,
    readAudit,
    maxJsonDepth,
    mayTakeLong: true,
    signal: () => signal,
  })
}
