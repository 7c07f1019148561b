// The session of the page: the user as the server knows it; signing in and out.
import { MutationCache, type Query, QueryCache, QueryClient, timeoutManager, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Shapes } from '../routes.gen.ts'
import { baseUrl, json } from './client.ts'
import { watchedConnection } from './connection.ts'
import { repeat, repetitions } from './repeat.ts'
import { ApiFault } from './send.ts'
import { boundUnused } from './unused-answers.ts'

export type Session = Shapes['auth.session']['out']

/** True once a request was refused because the session has ended: the sign-in opens over the page. */
let hasEnded = false
const listeners = new Set<() => void>()
function setEnded(value: boolean): void {
  if (hasEnded === value) return
  hasEnded = value
  for (const listener of listeners) listener()
}

/**
 * The server may refuse requests that are sent before the user is known: then the page of the sign-in opens by itself.
 */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiFault &&
  error.values.status === 401 &&
  Boolean(queries.getQueryData<Session>(['session'])?.user_id)

const signedInMark = 'callhouse-signed-in'
/** Whether this browser was signed in when the page was left; the session itself is not readable here. */
export const wasSignedIn = (): boolean => {
  try {
    return localStorage.getItem(signedInMark) === '1'
  } catch {
    return false
  }
}
export function noteSignedIn(is: boolean): void {
  try {
    if (is) localStorage.setItem(signedInMark, '1')
    else localStorage.removeItem(signedInMark)
  } catch {
    // A browser that keeps nothing asks one after another.
  }
}

timeoutManager.setTimeoutProvider<number>({
  setTimeout: (work, ms) => window.setTimeout(work, ms),
  clearTimeout: (id) => window.clearTimeout(id),
  setInterval: repetitions.begin,
  clearInterval: repetitions.end,
})

/** Asks anew also where the first answer is still on its way: it may have been read before the change. */
class Queries extends QueryClient {
  override async invalidateQueries(...[filters, options]: Parameters<QueryClient['invalidateQueries']>): Promise<void> {
    const isFirst = (query: Query): boolean => query.state.data === undefined && (filters?.predicate?.(query) ?? true)
    await this.cancelQueries({ ...filters, type: 'active', predicate: isFirst })
    await super.invalidateQueries(filters, options)
  }
}

/** An error that may mean that nobody answers. Only `/health` can tell. */
const isDoubtful = (error: unknown): boolean =>
  !(error instanceof ApiFault) || [0, 502, 503, 504].includes(error.values.status)

function onFault(error: unknown): void {
  if (isRefused(error)) setEnded(true)
  if (isDoubtful(error)) void connection.look()
}

export const queries = new Queries({
  queryCache: new QueryCache({
    onError: (error, { meta }) => meta?.isAside !== true && onFault(error),
  }),
  mutationCache: new MutationCache({ onError: onFault }),
  defaultOptions: {
    // A browser that believes itself offline asks all the same, and says what came of it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      gcTime: 300_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 1 && error instanceof ApiFault && [0, 502].includes(error.values.status),
    },
  },
})

boundUnused(queries.getQueryCache())

type ServerHealth = Shapes['service.health']['out']
export type HealthStatus = ServerHealth['status']

/** Longer is no answer. */
const healthMs = 5_000

/** The health of the server. @throws when it does not answer, or a proxy does in its place */
export async function askHealth(): Promise<HealthStatus> {
  // Unavailable servers answer 503 with the same body.
  const answer = await fetch(new URL('health', baseUrl), { signal: AbortSignal.timeout(healthMs), cache: 'no-store' })
  const { status } = (await answer.json()) as ServerHealth
  if (typeof status !== 'string') throw new Error('No response from the server')
  return status
}

export const connection = watchedConnection({
  async reach() {
    try {
      queries.setQueryData(['health'], await askHealth())
      return true
    } catch {
      return false
    }
  },
  repeat,
  onBack: () => void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
})

export const useHasEnded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => hasEnded,
  )

const sessionQuery = {
  queryKey: ['session'],
  async queryFn({ signal }: { signal: AbortSignal }) {
    const session = await json('auth.session', undefined, { signal })
    noteSignedIn(session.user_id !== null)
    return session
  },
  staleTime: Number.POSITIVE_INFINITY,
}

export const useSession = () => useQuery(sessionQuery)
export const loadSession = (): Promise<Session> => queries.ensureQueryData(sessionQuery)

/** @throws ApiFault: 401 for an unknown key, 409 where no session is made, 429 after too many wrong ones */
export async function signIn(key: string): Promise<void> {
  const session = await json('auth.key', { key })
  noteSignedIn(true)
  queries.setQueryData(sessionQuery.queryKey, session)
  const wasOpen = hasEnded
  setEnded(false)
  if (wasOpen) await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}

/** Whether the key's role may change and delete; keys of the configuration have none, and may. */
export const mayWrite = (session: Session | undefined): boolean =>
  session !== undefined && !['reader', 'annotator', 'ingest'].includes(session.role ?? '')
/** Title of a button that needs write permission. */
export const noWrite = 'You don’t have write permission'
/** Whether it may give feedback. */
export const mayAnnotate = (session: Session | undefined): boolean => session?.role === 'annotator' || mayWrite(session)
/** Whether the key's role may read at all. */
export const mayRead = (session: Session | undefined): boolean => session?.role !== 'ingest'
/** Whether it administers anything: keys of the configuration have no role, and administer everything. */
export const mayAdminister = (session: Session | undefined): boolean =>
  session !== undefined &&
  (session.role === undefined ? session.grants === undefined : ['admin', 'owner'].includes(session.role))
