// One request to a declared route, from the page or its worker: the session's header, and faults as errors.
import { curlOf } from '../engine/curl.ts'
import { routes, type Shapes } from '../routes.gen.ts'

export type RouteName = keyof Shapes
type Params = Record<string, string>
export type Sending = {
  params?: Params | undefined
  query?: Params | undefined
  signal?: AbortSignal | undefined
  fresh?: 'any' | undefined
  /** The request goes on when the tab closes; of short bodies. */
  keepalive?: boolean | undefined
}

export type FaultValues = {
  status: number
  reason: string
  requestId: string
  retryAfterS: number
  asked: string
  /** Time of the delete, for a deleted object, where the server knows it. */
  deletedAt?: string | undefined
  /** The request as a line for a shell; absent where its body is long. */
  curl?: string | undefined
}

/** A refusal by the server, or a server that cannot be reached (status 0). */
export class ApiFault extends Error {
  readonly values: FaultValues
  constructor(values: FaultValues) {
    super(values.reason)
    this.values = values
  }
}

function saidIn(text: string, status: number): { reason: string; deletedAt?: string } {
  try {
    const { reason, detail, deleted_at } = JSON.parse(text) as Record<string, unknown>
    const deleted = typeof deleted_at === 'string' ? { deletedAt: deleted_at } : {}
    if (typeof reason === 'string') return { reason, ...deleted }
    const first: unknown = Array.isArray(detail) ? detail[0] : detail
    if (typeof first === 'string') return { reason: first, ...deleted }
    if (typeof first === 'object' && first !== null && 'msg' in first) return { reason: String(first.msg) }
  } catch {
    // A proxy's own page.
  }
  return { reason: `The server answered ${status}` }
}

/** A body that is JSON already: numbers in it stay as they are spelled. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Longer bodies are no line to copy. */
const maxShown = 8_192

function shownRequest(address: URL, method: string, body: unknown): string | undefined {
  const text = body instanceof JsonText ? body.text : JSON.stringify(body)
  return (text?.length ?? 0) > maxShown ? undefined : curlOf(address, method, text)
}

/** @param base address that every path is below, with a slash at its end */
export async function send(base: string, name: RouteName, body: unknown, options: Sending = {}): Promise<Response> {
  const [method, path] = routes[name]
  const filled = path.replaceAll(/\{(\w+)\*?\}/g, (_, key: string) => encodeURIComponent(options.params?.[key] ?? ''))
  const address = new URL(filled.slice(1), base)
  for (const [key, value] of Object.entries(options.query ?? {})) address.searchParams.set(key, value)
  const headers: Record<string, string> = { 'X-Callhouse-Page': '1' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (options.fresh !== undefined) headers['X-Callhouse-Freshness'] = options.fresh
  const asked = `${method} ${path}`
  const curl = () => shownRequest(address, method, body)
  let response: Response
  try {
    response = await fetch(address, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body !== undefined && { body: body instanceof JsonText ? body.text : JSON.stringify(body) }),
      ...(options.signal && { signal: options.signal }),
      ...(options.keepalive && { keepalive: true }),
    })
  } catch (error) {
    if (options.signal?.aborted) throw error
    const reason = 'Cannot reach the server'
    throw new ApiFault({ status: 0, reason, requestId: '', retryAfterS: 0, asked, curl: curl() })
  }
  if (response.ok) return response
  throw new ApiFault({
    status: response.status,
    ...saidIn(await response.text().catch(() => ''), response.status),
    requestId: response.headers.get('x-request-id') ?? '',
    retryAfterS: Number(response.headers.get('retry-after') ?? 0),
    asked,
    curl: curl(),
  })
}

/** Milliseconds that the answer may lag behind; 0 when it is whole. */
export const staleMsOf = (response: Response): number => Number(response.headers.get('x-callhouse-stale') ?? 0)
