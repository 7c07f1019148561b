// Signing in to the page by a provider: the way there and back, and the end of sessions that the provider tells of.
import { z } from 'zod'
import { providersResponse } from '../../../schemas/session.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { itemKey } from '../../core/directory/items.ts'
import { fault } from '../../core/http/errors.ts'
import type { Keys } from '../../core/http/keys.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { Sessions } from '../../core/http/session.ts'
import type { Via } from '../../core/http/via.ts'
import { sealWith } from '../../core/process/master-key.ts'
import { type AccessParts, createChanges } from '../changes.ts'
import { type PeopleSettings, signedIn } from './people.ts'
import { createProvider, logoutTokenSeconds, type ProviderSettings, toleranceSeconds } from './provider.ts'

export type SignInDeps = {
  directory: Directory
  sessions: Sessions
  keys: Pick<Keys, 'findId'>
  masterKey(): Buffer | undefined
  config: PeopleSettings & ProviderSettings & { publicUrl: string; keys: readonly string[]; keyMaxDays: number }
  now?: () => number
}

const pendingSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  atMs: z.number(),
})
const pendingMs = 600_000
const toleranceMs = toleranceSeconds * 1000
const maxLogoutBytes = 64 * 1024
/** Answers that came once; the provider refuses a code that comes twice, wherever it comes. */
const maxUsed = 10_000

type Identity = { iss: string; sub: string }

/** A path of our own: no host, no other scheme. */
const isOwnPath = (text: string): boolean => /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text)

const withoutProject = { withoutProject: true, body: { type: 'none' }, response: null } as const

/** State that the routes of sign-in share. */
type SignIn = Omit<Required<SignInDeps>, 'directory'> & {
  /** Undefined where none is configured. */
  provider: ReturnType<typeof createProvider> | undefined
  change: AccessParts['change']
  /** States of sign-ins that have come back. */
  used: Set<string>
  /** Ids of logout tokens that counted, with when they will be too old to count. */
  ended: Map<string, number>
}

function providerOf({ provider }: SignIn) {
  if (provider === undefined) throw fault(404, 'No sign-in provider is configured; see CALLHOUSE_OIDC_ISSUER')
  return provider
}

function sealOf({ masterKey }: SignIn) {
  const master = masterKey()
  if (master === undefined) throw fault(409, 'Signing in needs CALLHOUSE_MASTER_KEY where the roles are apart')
  return sealWith(master, 'sign-in')
}

/** @throws Fault 409 where no session may be made */
function viaOf({ sessions }: SignIn, context: RouteContext): Via {
  const via = context.via?.()
  if (via === undefined) throw fault(400, 'Sessions can only be created over HTTP')
  const refusal = sessions.refusal(via)
  if (refusal !== undefined) throw fault(409, refusal)
  return via
}

/** Address to which the provider sends a browser back. */
function callbackOf({ config }: SignIn, { origin, basePath }: Via): string {
  const base = config.publicUrl === '' ? `${origin}${basePath}` : `${config.publicUrl.replace(/\/+$/, '')}/`
  return `${base}auth/callback`
}

const cookieName = ({ port }: Via): string => `callhouse-sign-in-${port}`

const pendingCookie = (via: Via, value: string): string =>
  `${cookieName(via)}=${value}; Path=${via.basePath}auth/; Max-Age=600; HttpOnly; SameSite=Lax${via.isSecure ? '; Secure' : ''}`

const redirect = (location: string, cookie: string): Reply => ({
  status: 302,
  bytes: Buffer.alloc(0),
  contentType: 'text/plain',
  headers: { Location: location, 'Set-Cookie': cookie, 'Cache-Control': 'no-store' },
})

/** The sign-in that the browser has begun; it comes back once. @throws Fault 401 */
function takePending(signIn: SignIn, context: RouteContext, via: Via) {
  const { used, now } = signIn
  const name = `${cookieName(via)}=`
  const pair = (context.header('cookie') ?? '').split(';').find((one) => one.trim().startsWith(name))
  const opened = pair === undefined ? undefined : sealOf(signIn).open(pair.trim().slice(name.length))
  const parsed = opened === undefined ? undefined : pendingSchema.safeParse(JSON.parse(opened))
  if (parsed?.success !== true || parsed.data.atMs < now() - pendingMs || used.has(parsed.data.state))
    throw fault(401, 'This sign-in was not started here or has expired. Sign in again')
  used.add(parsed.data.state)
  if (used.size > maxUsed) used.delete(used.values().next().value as string)
  return parsed.data
}

/** Ends the sessions of whoever the provider knows by this name, up to a time. */
function endSessions({ change, now }: SignIn, context: RouteContext, identity: Identity, issuedMs: number) {
  return change({ ...context.caller, userId: 'sign-in' }, ({ users, sessionsEnds }) => {
    const isIt = (one: Identity | undefined) => one?.iss === identity.iss && one.sub === identity.sub
    const ids = [...users].filter(([, user]) => isIt(user.identity)).map(([id]) => id)
    // Sent again, to another process too, it ends no session that began later.
    const before = Math.min(now(), issuedMs + toleranceMs)
    const known = (id: string) => Date.parse(sessionsEnds.get(id)?.before ?? '') || 0
    return {
      changes: ids
        .filter((id) => known(id) < before)
        .map((id) => ({ key: itemKey('sessions-end', id), value: { before: new Date(before).toISOString() } })),
    }
  })
}

export function createSignInRoutes({ directory, now = Date.now, ...deps }: SignInDeps): Route[] {
  const { config } = deps
  const signIn: SignIn = {
    ...deps,
    now,
    provider: config.oidcIssuer === '' ? undefined : createProvider(config, now),
    change: createChanges({ directory }),
    used: new Set(),
    ended: new Map(),
  }
  return [providersRoute(signIn), loginRoute(signIn), callbackRoute(signIn), logoutRoute(signIn)]
}

const providersRoute = (signIn: SignIn): Route =>
  route({
    ...withoutProject,
    name: 'auth.providers',
    method: 'GET',
    path: '/auth/providers',
    summary: 'Sign-in providers of the page',
    response: providersResponse,
    async handle() {
      const { provider, config } = signIn
      return { json: { providers: provider === undefined ? [] : [{ name: new URL(config.oidcIssuer).hostname }] } }
    },
  })

const loginRoute = (signIn: SignIn): Route =>
  route({
    ...withoutProject,
    name: 'auth.login',
    method: 'GET',
    path: '/auth/login',
    summary: 'Redirects to the sign-in provider',
    async handle(context) {
      const provider = providerOf(signIn)
      const via = viaOf(signIn, context)
      const returnTo = context.query.get('return_to') ?? '/'
      if (!isOwnPath(returnTo)) throw fault(400, 'return_to must be a path of this server')
      const { url, pending } = await provider.begin(callbackOf(signIn, via), returnTo)
      return redirect(url, pendingCookie(via, sealOf(signIn).seal(JSON.stringify(pending))))
    },
  })

const callbackRoute = (signIn: SignIn): Route =>
  route({
    ...withoutProject,
    name: 'auth.callback',
    method: 'GET',
    path: '/auth/callback',
    summary: 'Redirect target of the sign-in provider',
    async handle(context) {
      const provider = providerOf(signIn)
      const via = viaOf(signIn, context)
      const { config, keys, sessions, change, now } = signIn
      const pending = takePending(signIn, context, via)
      const { claims, untilMs } = await provider.finish(new URL(`${callbackOf(signIn, via)}?${context.query}`), pending)
      const isTaken = (id: string) => config.keys.some((pair) => pair.startsWith(`${id}:`))
      const { userId } = await change({ ...context.caller, userId: 'sign-in' }, (state) =>
        signedIn(state, claims, config, now(), isTaken),
      )
      const holder = keys.findId(`user:${userId}`)
      if (holder === undefined) throw fault(403, 'This user is deactivated')
      const { cookie } = sessions.begin(holder, via, untilMs)
      return redirect(`${via.basePath.slice(0, -1)}${pending.returnTo}`, cookie)
    },
  })

const logoutRoute = (signIn: SignIn): Route =>
  route({
    withoutProject: true,
    response: null,
    name: 'auth.backchannel_logout',
    method: 'POST',
    path: '/auth/backchannel-logout',
    summary: 'Back-channel logout: ends all sessions of a user who signed out at the provider',
    body: { type: 'raw', contentTypes: ['application/x-www-form-urlencoded'] },
    async handle(context) {
      const provider = providerOf(signIn)
      const { ended, now } = signIn
      const { bytes } = context.body
      if (bytes.length > maxLogoutBytes) throw fault(413, 'Request too large')
      const token = new URLSearchParams(bytes.toString()).get('logout_token') ?? ''
      const { jti, issuedMs, ...identity } = await provider.loggedOut(token)
      for (const [id, untilMs] of ended) if (untilMs < now()) ended.delete(id)
      if (ended.has(jti)) throw fault(400, 'This logout token was already used')
      await endSessions(signIn, context, identity, issuedMs)
      // Not before: a provider that was answered 503 sends it again.
      ended.set(jti, issuedMs + logoutTokenSeconds * 1000 + toleranceMs)
      return { json: {}, headers: { 'Cache-Control': 'no-store' } }
    },
  })
