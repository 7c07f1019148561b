// Sign-ins of the web page: a sealed cookie, and when it counts as credentials.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { type Seal, sealWith } from '../process/master-key.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { fault } from './errors.ts'
import type { KeyHolder } from './holder.ts'
import type { Keys } from './keys.ts'
import type { Via } from './via.ts'

const contentSchema = z.object({
  sid: z.string(),
  user: z.string(),
  /** Key that it was made with; taking the key away ends it. */
  key: z.string(),
  issuedMs: z.number(),
  seenMs: z.number(),
})
type Content = z.output<typeof contentSchema>

type Session = { holder: KeyHolder; expiresMs: number; content: Content }

export type Sessions = {
  /** @throws Fault 403 when there is a session and the request is not one of the page itself */
  holder(headers: IncomingHttpHeaders, method: string, via: Via): KeyHolder | undefined
  /** The same with its times. */
  find(headers: IncomingHttpHeaders, method: string, via: Via): Session | undefined
  /** Why no session is made for such a request; undefined when one is. */
  refusal(via: Via): string | undefined
  /** `Set-Cookie` of a new session. @throws Error without a master key */
  begin(holder: KeyHolder, via: Via): { cookie: string; session: Session }
  /** `Set-Cookie` of the same session, sealed anew after half of the idle time; undefined before. */
  renew(session: Session, via: Via): string | undefined
  /** Ends it in this installation; `Set-Cookie` that clears the cookie. */
  end(session: Session | undefined, via: Via): string
}

export type SessionDeps = {
  keys: Pick<Keys, 'findId'>
  masterKey(): Buffer | undefined
  ended: EndedSessions
  config: { sessionHours: number; sessionIdleMinutes: number }
  now?: () => number
}

const pageHeader = 'x-callhouse-page'

/** Throws unless only the page itself can have sent this: bodies need no content type, so any site could post one. */
export function throwUnlessPage(headers: IncomingHttpHeaders, method: string, via: Via): void {
  const site = headers['sec-fetch-site']
  if (headers[pageHeader] !== '1' || (site !== undefined && site !== 'same-origin'))
    throw fault(403, 'A session counts only for requests of the page itself')
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== via.origin)
    throw fault(403, 'A session counts only for requests of the page itself: wrong Origin')
}

const nameOf = ({ isSecure, basePath, port }: Via): string => {
  if (!isSecure) return `callhouse-${port}`
  return basePath === '/' ? '__Host-callhouse' : '__Secure-callhouse'
}

function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=')
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}

export function createSessions({ keys, masterKey, ended, config, now = Date.now }: SessionDeps): Sessions {
  const lifeMs = config.sessionHours * 3_600_000
  const idleMs = config.sessionIdleMinutes * 60_000
  let seal: Seal | undefined
  const sealed = (): Seal | undefined => {
    const master = seal === undefined ? masterKey() : undefined
    if (master !== undefined) seal = sealWith(master, 'session')
    return seal
  }
  const expiresOf = ({ issuedMs, seenMs }: Content): number => Math.min(issuedMs + lifeMs, seenMs + idleMs)
  const setCookie = (via: Via, value: string, maxAge: number): string =>
    `${nameOf(via)}=${value}; Path=${via.basePath}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${via.isSecure ? '; Secure' : ''}`
  const write = (content: Content, via: Via): string => {
    const by = sealed()
    if (by === undefined) throw new Error('sessions need a master key')
    return setCookie(via, by.seal(JSON.stringify(content)), Math.ceil((expiresOf(content) - now()) / 1000))
  }

  const read = (text: string): Session | undefined => {
    const opened = sealed()?.open(text)
    if (opened === undefined) return undefined
    const content = contentSchema.parse(JSON.parse(opened))
    const expiresMs = expiresOf(content)
    if (expiresMs <= now() || ended.has(content.sid)) return undefined
    const holder = keys.findId(content.key)
    return holder === undefined ? undefined : { holder, expiresMs, content }
  }

  const sessions: Sessions = {
    holder: (...request) => sessions.find(...request)?.holder,
    find(headers, method, via) {
      const text = cookieOf(headers, nameOf(via))
      // A cookie on a request from another origin counts as absent, whatever CORS allows.
      if (text === undefined || (headers.origin !== undefined && headers.origin !== via.origin)) return undefined
      const session = read(text)
      if (session !== undefined) throwUnlessPage(headers, method, via)
      return session
    },
    refusal(via) {
      if (!via.isSecure && !via.isLocal)
        return 'Signing in over plain http works on this machine only: put TLS before the server and name the proxy in CALLHOUSE_TRUST_PROXY'
      if (sealed() === undefined) return 'Signing in needs CALLHOUSE_MASTER_KEY where the roles are apart'
      return undefined
    },
    begin(holder, via) {
      const at = now()
      const sid = randomBytes(16).toString('base64url')
      const content = { sid, user: holder.userId, key: holder.keyId ?? '', issuedMs: at, seenMs: at }
      return { cookie: write(content, via), session: { holder, content, expiresMs: expiresOf(content) } }
    },
    renew({ content }, via) {
      if (now() - content.seenMs < idleMs / 2) return undefined
      return write({ ...content, seenMs: now() }, via)
    },
    end(session, via) {
      if (session !== undefined) ended.add(session.content.sid, session.content.issuedMs + lifeMs)
      return setCookie(via, '', 0)
    },
  }
  return sessions
}
