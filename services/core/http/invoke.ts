// Runs the handlers of declared routes inside the process: what one feature may use of another, without a socket.
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { tooLarge } from '../errors.ts'
import { noted } from '../log/freshness.ts'
import { parseInRoom } from '../memory/heap-room.ts'
import { moveWork, runningAccount, runningRequest } from '../process/running-handler.ts'
import type { KeyHolder } from './holder.ts'
import type { RequestThreads } from './long-requests.ts'
import { isLong, longRequest } from './long-requests.ts'
import { projectsOf } from './projects.ts'
import type { Caller, Reply, Route, RouteContext } from './route.ts'
import { jsonInput, throwUnlessHeld } from './serve.ts'

/** The caller of a route, and the time limit. A handler's own context is one. */
export type InvokeCaller = {
  caller: Caller & Partial<Pick<KeyHolder, 'holds' | 'entry'>>
  /** Ends the work: whatever waits rejects with the signal's reason. */
  signal: AbortSignal
  requestId?: string
  /** The request whose wish for freshness counts for this one too. Without it reads wait for the log's end. */
  freshness?: Pick<RouteContext, 'header' | 'query'>
}

type Params = Record<string, string>

/** A whole answer, byte for byte as it would go out. */
type InvokedAnswer = { bytes: Buffer; headers: Record<string, string> }

/**
 * Runs the handler of a declared route inside the process: same schema, rights and freshness as over HTTP, no socket.
 * Bodies are values, or a Buffer of JSON text whose numbers keep their spelling, or FormData for uploads. Errors of the
 * store pass as they are: the route that called answers them. Long bodies are handled by a thread, as those of requests
 * are; a Buffer goes there, and must not be used any more.
 */
export type Invoke = {
  /** @returns what the route answers. @throws Fault as the route would answer */
  json<T>(route: string, body: unknown, as: InvokeCaller, params?: Params): Promise<T>
  /** The rows of a route that answers JSON Lines, as they come. */
  rows<T>(route: string, body: unknown, as: InvokeCaller, params?: Params): AsyncIterable<T>
  /** The same rows as JSON texts, numbers spelled as they are stored. */
  lines(route: string, body: unknown, as: InvokeCaller, params?: Params): AsyncIterable<string>
  /**
   * The answer's bytes and headers: files, values whose numbers keep their spelling, positions of writes.
   * @throws Fault 413 when an answer that comes in pieces is longer than `maxBytes`, as soon as it is
   */
  answer(route: string, body: unknown, as: InvokeCaller, params?: Params, maxBytes?: number): Promise<InvokedAnswer>
}

export type InvokeDeps = {
  /**
   * The routes. They are read when a route is called, so that the list may hold routes that use this port themselves.
   */
  routes(): readonly Route[]
  config: { maxBodyBytes: number; maxJsonDepth: number }
  /** Threads for long bodies; without them they are handled here. */
  threads?: Pick<RequestThreads, 'run'> | undefined
}

/** Room around what came within the bounds of a request: features send it on inside bodies of their own. */
const moreLevels = 16
const moreBytes = 64 * 1024

const noBytes = Buffer.alloc(0)
const freshnessHeaders = new Set(['x-callhouse-freshness', 'x-callhouse-position'])

/** The promise's outcome, or a rejection as soon as the signal is aborted. */
function unlessAborted<T>(signal: AbortSignal, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const done = () => signal.removeEventListener('abort', onAbort)
    work.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        reject(error)
      },
    )
  })
}

/** The items until the signal is aborted; a source that is left early is told so. */
async function* untilAborted<T>(signal: AbortSignal, source: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  let isDone = false
  try {
    for (;;) {
      const item = await unlessAborted(signal, iterator.next())
      isDone = item.done === true
      if (item.done === true) return
      yield item.value
    }
  } finally {
    // Not awaited: a source that is stuck ends through the signal.
    if (!isDone) iterator.return?.().catch(() => undefined)
  }
}

async function wholeOf(signal: AbortSignal, reply: Reply, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  if ('json' in reply) return Buffer.from(JSON.stringify(reply.json) ?? 'null')
  if ('jsonText' in reply) return Buffer.from(reply.jsonText)
  const source = 'lines' in reply ? reply.lines : reply.bytes
  if (Buffer.isBuffer(source)) return source
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of untilAborted<string | Buffer>(signal, source)) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) throw tooLarge()
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks)
}

/** The JSON text of a body; what comes from a provider is bounded there. */
function bytesTo({ body, isInner }: Route, value: unknown, { maxBodyBytes }: InvokeDeps['config']): Buffer {
  if (body.type !== 'json') return noBytes
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value) ?? '')
  if (isInner !== true && bytes.length > maxBodyBytes * (body.times ?? 1) + moreBytes) throw tooLarge()
  return bytes
}

type Sent = Pick<RouteContext, 'input' | 'body'> & { stream: Readable; contentType: string }

/** The body as the handler of the route expects it. */
function sentTo({ body, name }: Route, value: unknown, bytes: Buffer, maxJsonDepth: number): Sent {
  const nothing = { input: undefined, body: { bytes: noBytes, contentType: '' }, contentType: '' }
  switch (body.type) {
    case 'none':
      return { ...nothing, stream: Readable.from([]) }
    case 'json': {
      const contentType = 'application/json'
      const input = jsonInput(body, bytes, maxJsonDepth)
      return { input, body: { bytes, contentType }, contentType, stream: Readable.from([]) }
    }
    case 'stream': {
      if (!(value instanceof FormData)) throw new Error(`${name} takes FormData`)
      const encoded = new Response(value)
      const stream = Readable.fromWeb(encoded.body as ReadableStream)
      return { ...nothing, stream, contentType: encoded.headers.get('content-type') ?? '' }
    }
    case 'raw':
      throw new Error(`${name} takes the bytes of a sender`)
    default:
      return body satisfies never
  }
}

export function createInvoke({ routes, config, threads }: InvokeDeps): Invoke {
  const maxJsonDepth = config.maxJsonDepth + moreLevels
  let byName: Map<string, Route> | undefined
  const find = (name: string): Route => {
    byName ??= new Map(routes().map((route) => [route.name, route]))
    const found = byName.get(name)
    if (found === undefined) throw new Error(`No route is named ${name}`)
    return found
  }

  const run = async (name: string, value: unknown, as: InvokeCaller, params: Params = {}): Promise<Reply> => {
    const route = find(name)
    const { caller, signal, freshness, requestId = '' } = as
    signal.throwIfAborted()
    throwUnlessHeld(route.right, caller.holds)
    const bytes = bytesTo(route, value, config)
    const clientIp = () => ''
    const queryOf = () => {
      const mode = freshness?.query.get('freshness') ?? null
      return new URLSearchParams(mode === null ? {} : { freshness: mode })
    }
    if (threads !== undefined && caller.entry !== undefined && isLong(route, bytes)) {
      // The whole request, when nothing of it was written: its answer is made there, too.
      moveWork()
      const headers = Object.fromEntries([...freshnessHeaders].map((name) => [name, freshness?.header(name)]))
      const asker = runningRequest()
      const address = () => asker?.address() ?? ''
      const requested = { requestId, params, clientIp: address, headers, url: `?${queryOf()}` }
      const request = longRequest(route, requested, 'application/json', caller, maxJsonDepth)
      const reply = await unlessAborted(signal, threads.run(request, { body: bytes }, caller, signal, runningAccount()))
      noted(reply.headers ?? {})
      return reply
    }
    const sent = sentTo(route, value, bytes, maxJsonDepth)
    const projects = projectsOf(caller, route)
    const context: RouteContext = {
      requestId,
      caller,
      ...(route.countsAll && { countsAll: true }),
      header(header) {
        if (header === 'content-type') return sent.contentType || undefined
        return freshnessHeaders.has(header) ? freshness?.header(header) : undefined
      },
      clientIp,
      params,
      get query() {
        return queryOf()
      },
      input: sent.input,
      body: sent.body,
      maxJsonDepth,
      mayTakeLong: true,
      stream: sent.stream,
      signal,
      ...projects.context,
    }
    return unlessAborted(
      signal,
      projects.run(() => route.handle(context)),
    )
  }

  const texts = async function* (name: string, value: unknown, as: InvokeCaller, params?: Params) {
    const reply = await run(name, value, as, params)
    if (!('lines' in reply)) throw new Error(`${name} does not answer lines`)
    for await (const chunk of untilAborted(as.signal, reply.lines))
      for (const line of chunk.toString().split('\n')) if (line !== '') yield line
  }

  return {
    async json<T>(name: string, value: unknown, as: InvokeCaller, params?: Params) {
      const reply = await run(name, value, as, params)
      if ('json' in reply) return reply.json as T
      return parseInRoom((await wholeOf(as.signal, reply)).toString()) as T
    },
    async *rows<T>(name: string, value: unknown, as: InvokeCaller, params?: Params) {
      for await (const line of texts(name, value, as, params)) yield parseInRoom(line) as T
    },
    lines: texts,
    async answer(name, value, as, params, maxBytes) {
      const reply = await run(name, value, as, params)
      return { bytes: await wholeOf(as.signal, reply, maxBytes), headers: reply.headers ?? {} }
    },
  }
}
