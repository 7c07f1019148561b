// Signing in to the page by a key, what the page may know of its user and server, and signing out.
import { keyRequest, logoutResponse, ownSessionResponse, sessionResponse } from '../../schemas/session.ts'
import type { Audit } from '../core/audit/audit.ts'
import { roleOf } from '../core/directory/roles.ts'
import { fault } from '../core/http/errors.ts'
import { createGuesses, type Guesses } from '../core/http/guesses.ts'
import { type KeyHolder, throwUnlessFrom } from '../core/http/holder.ts'
import type { Keys } from '../core/http/keys.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import { type Sessions, throwUnlessPage } from '../core/http/session.ts'
import type { Via } from '../core/http/via.ts'

export type SessionRouteDeps = {
  sessions: Sessions
  keys: Pick<Keys, 'find'>
  audit: Pick<Audit, 'record'>
  logger: { warn(values: Record<string, unknown>, text: string): void }
  server: {
    version: string
    commit?: string
    config: {
      wirePrefix: string
      feedbackPrefix: string
      maxBodyBytes: number
      maxFileBytes: number
      engineUrl: string | undefined
      evaluateDispatch: boolean
      wordIndex: boolean
    }
  }
  now?: () => number
}

/** A key is a few dozen characters. */
const maxBodyBytes = 16 * 1024
const declared = { withoutProject: true } as const

type Server = SessionRouteDeps['server']

const noStore = { 'Cache-Control': 'no-store' }

/** Server facts that whoever is not signed in may know. */
const versionOf = ({ version, commit }: Server) => ({ version, ...(commit !== undefined && { commit }) })

/** The user who is signed in, and what the page needs to know of the server. */
function sessionAnswer(server: Server, { userId, entity, entry }: KeyHolder, expiresMs?: number) {
  const { config } = server
  return {
    user_id: userId,
    entity,
    role: entry && roleOf(entry.access),
    grants: entry && (Object.hasOwn(entry.access, '*') ? '*' : Object.keys(entry.access)),
    expires_at: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
    server: {
      ...versionOf(server),
      wire_prefix: config.wirePrefix,
      feedback_prefix: config.feedbackPrefix,
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      limits: { max_body_bytes: config.maxBodyBytes, max_file_bytes: config.maxFileBytes },
      has: {
        engine: config.engineUrl !== undefined,
        evaluations: config.evaluateDispatch,
        word_index: config.wordIndex,
      },
    },
  }
}

function requestOf(context: RouteContext) {
  const headers = Object.fromEntries(
    ['x-callhouse-page', 'sec-fetch-site', 'origin', 'cookie'].map((name) => [name, context.header(name)]),
  )
  if (context.via === undefined) throw fault(400, 'Sessions are made and ended over HTTP only')
  return { headers, via: context.via() as Via }
}

const signInRoute = ({ sessions, keys, audit, logger, server }: SessionRouteDeps, guesses: Guesses): Route =>
  route({
    ...declared,
    name: 'auth.key',
    method: 'POST',
    path: '/auth/key',
    summary: 'Signs in to the web page by a key: sets its cookie',
    body: { type: 'json', schema: keyRequest, check: 'schema', maxBytes: maxBodyBytes },
    response: sessionResponse,
    async handle(context) {
      const { headers, via } = requestOf(context)
      throwUnlessPage(headers, 'POST', via)
      const address = context.clientIp()
      guesses.throwIfTooMany(address)
      const holder = keys.find(context.input.key.trim())
      if (holder === undefined) {
        guesses.add(address, context.input.key)
        logger.warn({ request: context.requestId, address }, 'sign-in with an unknown key')
        throw fault(401, 'Unknown API key. Check that you copied all of it')
      }
      throwUnlessFrom(holder, address)
      const refusal = sessions.refusal(via)
      if (refusal !== undefined) throw fault(409, refusal)
      const { userId: actor, entity: scope, keyId: key } = holder
      await audit.record({ action: 'auth.signed_in', scope, target: actor, actor, details: { with: 'key', key } })
      const { cookie, session } = sessions.begin(holder, via)
      return {
        json: sessionAnswer(server, holder, session.expiresMs),
        headers: { ...noStore, 'Set-Cookie': cookie },
      }
    },
  })

const sessionRoute = ({ sessions, keys, server }: SessionRouteDeps, guesses: Guesses): Route =>
  route({
    ...declared,
    name: 'auth.session',
    method: 'GET',
    path: '/auth/session',
    summary: 'Who is signed in to the web page, and what the server has; without a session its version only',
    body: { type: 'none' },
    response: sessionResponse,
    async handle(context) {
      const { headers, via } = requestOf(context)
      const bearer = /^bearer\s+(\S+)\s*$/i.exec(context.header('authorization') ?? '')?.[1]
      const byKey = bearer === undefined ? undefined : keys.find(bearer)
      const address = context.clientIp()
      if (byKey !== undefined) {
        throwUnlessFrom(byKey, address)
        return { json: sessionAnswer(server, byKey), headers: noStore }
      }
      if (bearer !== undefined) {
        guesses.throwIfTooMany(address)
        guesses.add(address, bearer)
      }
      const session = bearer === undefined ? sessions.find(headers, 'GET', via) : undefined
      if (session === undefined) return { json: { user_id: null, server: versionOf(server) }, headers: noStore }
      const cookie = sessions.renew(session, via)
      return {
        json: sessionAnswer(server, session.holder, session.expiresMs),
        headers: { ...noStore, ...(cookie && { 'Set-Cookie': cookie }) },
      }
    },
  })

const ownSessionsRoute = ({ sessions }: SessionRouteDeps): Route =>
  route({
    ...declared,
    name: 'me.sessions',
    method: 'GET',
    path: '/me/sessions',
    summary: 'The session by which this is asked, none for a key: sessions are kept by browsers alone',
    body: { type: 'none' },
    response: null,
    responseType: 'application/jsonl',
    line: ownSessionResponse,
    async handle(context) {
      const { headers, via } = requestOf(context)
      const isByKey = context.header('authorization') !== undefined
      const session = isByKey ? undefined : sessions.find(headers, 'GET', via)
      const line = session && {
        user_id: session.holder.userId,
        is_current: true,
        expires_at: new Date(session.expiresMs).toISOString(),
      }
      const text = line === undefined ? '' : `${JSON.stringify(line)}\n`
      return { bytes: Buffer.from(text), contentType: 'application/jsonl', headers: noStore }
    },
  })

const signOutRoute = ({ sessions }: SessionRouteDeps): Route =>
  route({
    ...declared,
    name: 'auth.logout',
    method: 'POST',
    path: '/auth/logout',
    summary: 'Ends the session of the web page and clears its cookie',
    body: { type: 'none' },
    response: logoutResponse,
    async handle(context) {
      const { headers, via } = requestOf(context)
      throwUnlessPage(headers, 'POST', via)
      const cookie = await sessions.end(sessions.find(headers, 'POST', via), via)
      return { json: {}, headers: { ...noStore, 'Set-Cookie': cookie } }
    },
  })

export function createSessionRoutes(deps: SessionRouteDeps): Route[] {
  const guesses = createGuesses(deps.now)
  return [signInRoute(deps, guesses), sessionRoute(deps, guesses), ownSessionsRoute(deps), signOutRoute(deps)]
}
