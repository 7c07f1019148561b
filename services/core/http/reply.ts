// Writes answers: JSON, JSON Lines and bytes, with compression, back-pressure and an honest end when something fails.
import type { OutgoingHttpHeaders } from 'node:http'
import { gzip } from 'node:zlib'
import { pause } from '../concurrency/pause.ts'
import { overLimit, type Policy } from '../errors.ts'
import { lineBuffers } from '../memory/buffer-pool.ts'
import type { Logger } from '../process/logger.ts'
import { StoreError } from '../store/store.ts'
import { ClientGone, discardRest } from './body.ts'
import { asFault, type Fault, fault, retryLater } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Reply } from './route.ts'

/** JSON answers above it are compressed for clients that accept gzip. */
const gzipAboveBytes = 1024
/** An answer whose reader takes nothing for so long is cut off. */
const stallMs = 60_000
const stallCheckAboveBytes = 64 * 1024

const acceptsGzip = (header: string | undefined): boolean =>
  header !== undefined && /(^|[\s,])(gzip|\*)\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))(;|,|$)/i.test(header)

const compress = (bytes: Buffer | string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Level 3: half the time of the default for a tenth more bytes.
    gzip(bytes, { level: 3 }, (error, result) => (error === null ? resolve(result) : reject(error)))
  })

/** A text goes out in one write with the headers; bytes need a second one. */
function finish(exchange: Exchange, status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void {
  const { request, response } = exchange
  if (response.destroyed) return
  exchange.clearTimeLimit()
  const size = Buffer.byteLength(body)
  exchange.bytesOut += size
  response.writeHead(status, { ...headers, 'Content-Length': size })
  if (size > stallCheckAboveBytes) request.socket.setTimeout(stallMs)
  response.end(body)
}

async function writeJson(exchange: Exchange, status: number, text: string | Buffer, headers: OutgoingHttpHeaders) {
  const all: OutgoingHttpHeaders = { 'Content-Type': 'application/json', ...headers }
  if (text.length <= gzipAboveBytes) return finish(exchange, status, all, text)
  const vary = exchange.response.getHeader('Vary')
  all.Vary = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
  if (!acceptsGzip(exchange.request.headers['accept-encoding'])) return finish(exchange, status, all, text)
  const packed = await compress(text)
  finish(exchange, status, { ...all, 'Content-Encoding': 'gzip' }, packed)
}

/** Waits until the client has taken what was written. */
async function drained(exchange: Exchange): Promise<void> {
  const { response } = exchange
  exchange.limitTime(stallMs, () => new ClientGone('stopped reading'))
  let onDrain: (() => void) | undefined
  try {
    await exchange.unlessAborted(
      new Promise<void>((resolve) => {
        onDrain = resolve
        response.once('drain', resolve)
      }),
    )
  } finally {
    if (onDrain !== undefined) response.off('drain', onDrain)
    exchange.clearTimeLimit()
  }
}

/** Called once the socket has taken a chunk. */
const taken = (chunk: string | Buffer) => (error?: Error | null) => {
  if (!error && typeof chunk !== 'string') lineBuffers.give(chunk)
}

async function writeStream(
  exchange: Exchange,
  status: number,
  headers: OutgoingHttpHeaders,
  chunks: AsyncIterable<string | Buffer>,
): Promise<void> {
  const { request, response } = exchange
  const iterator = chunks[Symbol.asyncIterator]()
  let isDone = false
  const next = async () => {
    const item = await exchange.unlessAborted(iterator.next())
    isDone = item.done === true
    return item
  }
  try {
    if (request.method === 'HEAD') {
      response.writeHead(status, headers).end()
      return
    }
    let item = await next()
    // The first chunk is there: faults can no longer be told by a status, and the time limit is over.
    exchange.clearTimeLimit()
    response.writeHead(status, headers)
    for (; item.done !== true; item = await next()) {
      const chunk = item.value
      if (chunk.length === 0) continue
      exchange.bytesOut += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
      if (!response.write(chunk, taken(chunk))) await drained(exchange)
    }
    response.end()
  } finally {
    // Not awaited: a source that is stuck ends through the signal. Its error was, or could not be, told.
    if (!isDone) iterator.return?.().catch(() => undefined)
  }
}

const lineTypes = ['application/jsonl', 'application/x-ndjson'] as const

/** The route's JSON Lines type, or the other one when Accept lists only that. */
function lineType(accept: string | undefined, usual: (typeof lineTypes)[number]): string {
  if (accept === undefined) return usual
  const other = usual === lineTypes[0] ? lineTypes[1] : lineTypes[0]
  const lower = accept.toLowerCase()
  return lower.includes(other) && !lower.includes(usual) ? other : usual
}

/** Writes what a handler answered. Rejects when the source of a stream fails. */
export async function writeReply(exchange: Exchange, reply: Reply): Promise<void> {
  const headers = reply.headers ?? {}
  if ('json' in reply) {
    const text = JSON.stringify(reply.json)
    return writeJson(exchange, reply.status ?? 200, text ?? 'null', headers)
  }
  if ('jsonText' in reply) return writeJson(exchange, reply.status ?? 200, reply.jsonText, headers)
  if ('lines' in reply) {
    const type = lineType(exchange.request.headers.accept, reply.contentType)
    return writeStream(exchange, 200, { ...headers, 'Content-Type': type }, reply.lines)
  }
  const all = { ...headers, 'Content-Type': reply.contentType }
  if (Buffer.isBuffer(reply.bytes)) return finish(exchange, reply.status ?? 200, all, reply.bytes)
  return writeStream(exchange, reply.status ?? 200, all, reply.bytes)
}

/** The engine's error code when too many statements wait for it. */
const tooManyWaiting = 202

/** The fault that an error is answered with; undefined for what nobody expected. Nothing of a statement is in it. */
function answerTo(error: unknown): Fault | undefined {
  if (!(error instanceof StoreError)) return asFault(error)
  switch (error.kind) {
    case 'timeout':
      return fault(504, 'Query took too long')
    case 'memory':
      return fault(502, 'Query needed too much memory')
    case 'rows':
      return fault(400, `${error.message}: use a shorter time range, or select by ids`)
    case 'busy':
      return asFault(overLimit('reads_share', 'Too many queries of this project are waiting'))
    case 'outage':
      return error.code === tooManyWaiting
        ? retryLater(503, 'Too many queries are waiting')
        : fault(502, 'Database is not available')
    case 'cancelled':
      return retryLater(503, 'Query was cancelled')
    case 'data':
    case 'query':
      return fault(502, 'Database error')
    default:
      return error.kind satisfies never
  }
}

/** Errors of the store that an operator has to know of. */
const isForOperators = (error: unknown): boolean =>
  error instanceof StoreError && (error.kind === 'query' || error.kind === 'data' || error.kind === 'outage')

/** The message without what it quotes: a statement's literals are what callers sent. */
const withoutQuotes = (message: string): string => message.replace(/'(?:[^'\\]|\\.)*'?/gs, "'…'").slice(0, 300)

/** The parts of an unexpected error that may be logged: the message of a syntax error quotes its text. */
function traitsOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const isStore = error instanceof StoreError
  const message = isStore ? withoutQuotes(error.message) : error.message.slice(0, 300)
  return {
    error: error.name,
    message: error instanceof SyntaxError ? undefined : message,
    kind: isStore ? error.kind : undefined,
    code: isStore ? error.code : undefined,
    stack: frames.slice(0, 12).map((line) => line.trim()),
  }
}

export type FailDeps = { log: Logger; refused(policy: Policy): void; discardBytes: number; discardMs: number }

/** Delay of refusals of long bodies for callers that retry at once: reading them leaves time for others. */
const heldMs = 500
const longBytes = 64 * 1024
const heldPolicies: ReadonlySet<Policy | undefined> = new Set<Policy>(['log', 'log_share', 'bodies', 'bodies_share'])

/** Nothing is kept of the body meanwhile. */
async function holdRefusal({ request, signal, bytesIn }: Exchange, policy: Policy | undefined): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? bytesIn)
  if (bytes >= longBytes && heldPolicies.has(policy)) await pause(heldMs, signal)
}

/** Answers an error; cuts the connection when the answer has begun, so that clients do not take a part for the whole. */
export async function writeError(exchange: Exchange, error: unknown, deps: FailDeps): Promise<void> {
  const { request, response } = exchange
  exchange.clearTimeLimit()
  if (exchange.isGone || error instanceof ClientGone) {
    response.destroy()
    return
  }
  const known = answerTo(error)
  if (known === undefined || response.headersSent || isForOperators(error)) {
    const line = { request: exchange.requestId, route: exchange.routeName, ...traitsOf(error) }
    const what = known === undefined ? 'unexpected error' : 'database error'
    deps.log.error(line, response.headersSent ? 'answer broken off' : what)
  }
  if (response.headersSent) {
    exchange.abort(new Error('answer broken off'))
    response.destroy()
    return
  }
  const answered = known ?? fault(500, 'Internal server error')
  if (answered.policy !== undefined) deps.refused(answered.policy)
  await holdRefusal(exchange, answered.policy)
  if (exchange.isGone) {
    response.destroy()
    return
  }
  const { status, body, headers } = exchange.faultAs?.(answered) ?? answered
  const all: OutgoingHttpHeaders = { ...headers }
  if ((status === 429 || status === 503) && all['Retry-After'] === undefined) all['Retry-After'] = '1'
  // Whoever waits for "continue" may or may not send the body now: only a new connection is in a known state.
  if (exchange.waitsForContinue) all.Connection = 'close'
  else discardRest(request, deps.discardBytes, deps.discardMs)
  await writeJson(exchange, status, JSON.stringify(body), all)
}
