// Sign-ins of the web page: a sealed cookie, and when it counts as credentials.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Change, Directory } from '../directory/directory.ts'
import { itemKey } from '../directory/items.ts'
import { type Seal, sealWith } from '../process/master-key.ts'
import { fault } from './errors.ts'
import type { KeyHolder } from './holder.ts'
import type { Keys } from './keys.ts'
import type { Via } from './via.ts'

const contentSchema = z.object({
  sid: z.string(),
  user: z.string(),
  /** Key that it was made with, or the user himself; taking either away ends it. */
  key: z.string(),
  issuedMs: z.number(),
  /** Time of the user's authentication. */
  authMs: z.number(),
  seenMs: z.number(),
  /** Time when the provider that signed the user in wants to be asked again. */
  untilMs: z.number().optional(),
})
type Content = z.output<typeof contentSchema>

type Session = { holder: KeyHolder; expiresMs: number; content: Content }

export type Sessions = {
  /** @throws Fault 403 when there is a session and the request is not one of the page itself */
  holder(headers: IncomingHttpHeaders, method: string, via: Via): KeyHolder | undefined
  /** The same with its times. */
  find(headers: IncomingHttpHeaders, method: string, via: Via): Session | undefined
  /** The reason why such a request gets no session; undefined when it gets one. */
  refusal(via: Via): string | undefined
  /** `Set-Cookie` of a new session. @throws Error without a master key */
  begin(holder: KeyHolder, via: Via, untilMs?: number): { cookie: string; session: Session }
  /** `Set-Cookie` of the same session, sealed anew after half of the idle time; undefined before. */
  renew(session: Session, via: Via): string | undefined
  /** Ends it in every process, once this resolves; `Set-Cookie` that clears the cookie. */
  end(session: Session | undefined, via: Via): Promise<string>
}

export type SessionDeps = {
  keys: Pick<Keys, 'findId'>
  masterKey(): Buffer | undefined
  directory: Pick<Directory, 'state' | 'append'>
  config: { sessionHours: number; sessionIdleMinutes: number }
  now?: () => number
}

/** Number of outdated sessions that are removed at a time. */
const maxOutdated = 100
/** Sessions that a user ended one by one and that are remembered: one user shall not fill the directory. */
const maxEnds = 1_000
const pageHeader = 'x-callhouse-page'

/** Throws unless only the page itself can have sent this: bodies need no content type, so any site could post one. */
export function throwUnlessPage(headers: IncomingHttpHeaders, method: string, via: Via): void {
  const site = headers['sec-fetch-site']
  if (headers[pageHeader] !== '1' || (site !== undefined && site !== 'same-origin'))
    throw fault(403, 'Sessions are only accepted from the page itself')
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== via.origin)
    throw fault(403, 'Sessions are only accepted from the page itself: wrong Origin')
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

export function createSessions({ keys, masterKey, directory, config, now = Date.now }: SessionDeps): Sessions {
  const lifeMs = config.sessionHours * 3_600_000
  const idleMs = config.sessionIdleMinutes * 60_000
  let seal: Seal | undefined
  const sealed = (): Seal | undefined => {
    const master = seal === undefined ? masterKey() : undefined
    if (master !== undefined) seal = sealWith(master, 'session')
    return seal
  }
  const expiresOf = ({ issuedMs, seenMs, untilMs = Number.POSITIVE_INFINITY }: Content): number =>
    Math.min(issuedMs + lifeMs, seenMs + idleMs, untilMs)
  /** Signed out, or all sessions of the user were ended after this one began. */
  const isEnded = ({ sid, user, issuedMs }: Content): boolean => {
    const { sessionEnds, sessionsEnds } = directory.state()
    return sessionEnds.has(sid) || Date.parse(sessionsEnds.get(user)?.before ?? '') >= issuedMs
  }
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
    // Those of an earlier version are none.
    const parsed = contentSchema.safeParse(JSON.parse(opened))
    if (!parsed.success) return undefined
    const content = parsed.data
    const expiresMs = expiresOf(content)
    if (expiresMs <= now() || isEnded(content)) return undefined
    const holder = keys.findId(content.key)
    return holder === undefined ? undefined : { holder, expiresMs, content }
  }

  /** Ends of sessions that would have run out by themselves. */
  const outdated = () =>
    [...directory.state().sessionEnds]
      .filter(([, { until }]) => Date.parse(until) < now())
      .slice(0, maxOutdated)
      .map(([sid]) => ({ key: itemKey('session-end', sid), value: null }))

  /** Beyond so many ends of a user all of his sessions end, by one item in the place of theirs. */
  const tooMany = (user: string): Change[] => {
    const { sessionEnds, items } = directory.state()
    const own = [...sessionEnds.keys()].map((sid) => itemKey('session-end', sid))
    const ended = own.filter((key) => items.get(key)?.by === user)
    if (ended.length < maxEnds) return []
    const before = new Date(now()).toISOString()
    return [{ key: itemKey('sessions-end', user), value: { before } }, ...ended.map((key) => ({ key, value: null }))]
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
        return 'Signing in over plain http only works on the same machine. Use TLS, or a proxy that is set in CALLHOUSE_TRUST_PROXY'
      if (sealed() === undefined) return 'Signing in needs CALLHOUSE_MASTER_KEY where the roles are apart'
      return undefined
    },
    begin(holder, via, untilMs) {
      const at = now()
      const sid = randomBytes(16).toString('base64url')
      const content = {
        sid,
        user: holder.userId,
        key: holder.keyId ?? '',
        issuedMs: at,
        authMs: at,
        seenMs: at,
        ...(untilMs !== undefined && { untilMs }),
      }
      return { cookie: write(content, via), session: { holder, content, expiresMs: expiresOf(content) } }
    },
    renew({ content }, via) {
      if (now() - content.seenMs < idleMs / 2) return undefined
      return write({ ...content, seenMs: now() }, via)
    },
    async end(session, via) {
      if (session !== undefined) {
        const { sid, user, issuedMs } = session.content
        const until = new Date(issuedMs + lifeMs).toISOString()
        const end = { key: itemKey('session-end', sid), value: { until } }
        await directory.append([end, ...tooMany(user), ...outdated()], user)
      }
      return setCookie(via, '', 0)
    },
  }
  return sessions
}
