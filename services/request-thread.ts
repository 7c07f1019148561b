// The program of a request thread: the handlers of all routes, over ports of the thread that holds the engines.
import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from './config.ts'
import { joinClock } from './core/clock.ts'
import { anonymous, runHandler } from './core/http/handler.ts'
import { holderOf } from './core/http/keys.ts'
import type { Reply } from './core/http/route.ts'
import { jsonInput } from './core/http/serve.ts'
import { createChannel, type Port } from './core/threads/channel.ts'
import { createPieces } from './core/threads/pieces.ts'
import { remotePorts } from './core/threads/remote-ports.ts'
import { type LongRequest, parcelOf, type ThreadData } from './core/threads/requests.ts'
import { openProviders } from './inference/providers.ts'
import { routesOf } from './routes.ts'
import type { ServerRole } from './server-role.ts'

const { config, role, split, clock } = workerData as ThreadData<Config, ServerRole>
const { maxJsonDepth } = config
const pieces = createPieces()

const channel = createChannel(parentPort as Port, {
  ...pieces.answers,
  async serve({ value, buffers }, signal) {
    const request = value as LongRequest
    numbers.set(signal, request.number)
    const handled = handle(request, buffers[0] as Buffer, signal)
    // The next request may come as soon as this one lets go of the thread.
    setImmediate(() => channel.ask('free').catch(() => undefined))
    return parcelOf(await handled, pieces)
  },
})
const numbers = new WeakMap<AbortSignal, number>()
const ports = remotePorts(channel, (signal) => numbers.get(signal))
// The main thread tells of a file that breaks.
const providers = openProviders({ file: config.providersFile, onBroken() {}, onMended() {} }).current
const routes = new Map(
  routesOf(role, { ...ports, config, providers, split, clock: joinClock(clock) }).map((route) => [route.name, route]),
)

async function handle(request: LongRequest, bytes: Buffer, signal: AbortSignal): Promise<Reply> {
  const route = routes.get(request.route)
  if (route === undefined) throw new Error(`no route is named ${request.route}`)
  const { body } = route
  const holder = request.entry === undefined ? anonymous : holderOf(request.entry)
  const input = body.type === 'json' ? jsonInput(body, bytes, maxJsonDepth) : undefined
  const read = { input, body: { bytes, contentType: request.contentType } }
  const requested = { ...request, clientIp: () => request.clientIp }
  return runHandler(route, requested, read, { holder, maxJsonDepth, mayTakeLong: true, signal: () => signal })
}
