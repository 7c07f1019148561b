// Paths of the page, below the base that the server wrote into the shell.
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { baseUrl } from './api/client.ts'
import { loadSession, queries } from './api/session.ts'
import { Calls } from './calls/calls.tsx'
import { tableSearch } from './datasets/search.ts'
import { callsSearch } from './engine/calls-search.ts'
import { dashboardSearch } from './engine/dashboard-search.ts'
import { hasKept } from './engine/kept-answers.ts'
import { pageOf } from './engine/lists.ts'
import { type ObjectKind, objectKind } from './engine/object-classes.ts'
import { threadSearch, threadsSearch } from './engine/threads-search.ts'
import { traceSearch } from './engine/trace-search.ts'
import { compareSearch, runSearch, runsSearch } from './evaluations/search.ts'
import { Dialogs } from './frame/dialogs.tsx'
import { Failed } from './frame/failed.tsx'
import { NotFound } from './frame/not-found.tsx'
import { differencesSearch } from './parts/sides.ts'
import { Projects } from './projects/projects.tsx'
import { SignIn } from './sign-in/sign-in.tsx'
import { searchOfDefault } from './views/open-default.ts'

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <Dialogs />
    </>
  ),
  notFoundComponent: NotFound,
})

/** The first page is drawn in slices, so that what is tapped meanwhile is seen. */
function FirstPage() {
  return useDeferredValue(true, false) && <Outlet />
}

let sentOf: string | undefined
/** Sends answers in queues that somebody gave before the page was closed; the next page does it, whichever it is. */
function sendKeptOnce(userId: string): void {
  if (sentOf === userId || !hasKept()) return
  sentOf = userId
  void import('./lazy-routes.tsx').then(({ sendKept }) => sendKept(queries, userId))
}

/** Pages need a session; the way back is in the address of the sign-in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: FirstPage,
  async beforeLoad({ location }) {
    const { user_id } = await loadSession()
    if (user_id === null)
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href }, replace: true })
    sendKeptOnce(user_id)
  },
})

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * Parameters that a page does not know are dropped: the router hands on those that a validation leaves out. Time zones
 * are checked where they are used.
 */
const only = <Taken extends (search: Record<string, unknown>) => object>(taken: Taken): Taken =>
  ((search) => ({
    ...Object.fromEntries(Object.keys(search).flatMap((name) => (name === 'tz' ? [] : [[name, undefined]]))),
    ...taken(search),
  })) as Taken

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { next?: string | undefined } => ({ next: text(search.next) }),
  component: SignIn,
})
const projects = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { all?: string | undefined } => ({ all: text(search.all) }),
  component: Projects,
})
const project = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project',
  beforeLoad({ params }) {
    throw redirect({ to: '/p/$entity/$project/calls', params, search: {}, replace: true })
  },
})
const calls = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/calls',
  validateSearch: only(callsSearch),
  async beforeLoad({ params, search }) {
    const found = await searchOfDefault('calls', `${params.entity}/${params.project}`, search)
    if (found) throw redirect({ to: '/p/$entity/$project/calls', params, search: callsSearch(found), replace: true })
  },
  component: Calls,
})
const call = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/calls/$id',
}).lazy(() => import('./traces/lazy-route.tsx').then((module) => module.callRoute))
const trace = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/traces/$traceId',
  validateSearch: only(traceSearch),
}).lazy(() => import('./traces/lazy-route.tsx').then((module) => module.traceRoute))

const object = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/objects/$objectId/$version',
  validateSearch: (search: Record<string, unknown>): { op?: '1' | undefined; tz?: string | undefined } => ({
    op: search.op === '1' ? '1' : undefined,
    tz: text(search.tz),
  }),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.objectRoute))

const differences = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/diff',
  validateSearch: only(differencesSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.differencesRoute))

const evaluations = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/evaluations',
  validateSearch: only(runsSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.evaluationsRoute))
const evaluation = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/evaluations/$runId',
  validateSearch: only(runSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.evaluationRoute))
const comparison = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/evaluations/compare',
  validateSearch: only(compareSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.compareRoute))
const queues = createRoute({ getParentRoute: () => signedIn, path: '/p/$entity/$project/queues' }).lazy(() =>
  import('./lazy-routes.tsx').then((module) => module.queuesRoute),
)
const queue = createRoute({ getParentRoute: () => signedIn, path: '/p/$entity/$project/queues/$queueId' }).lazy(() =>
  import('./lazy-routes.tsx').then((module) => module.queueRoute),
)
const queueItem = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/queues/$queueId/items/$itemId',
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.queueItemRoute))
const playground = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/playground',
  validateSearch: (
    search: Record<string, unknown>,
  ): { call?: string | undefined; prompt?: string | undefined; model?: string | undefined } => ({
    call: text(search.call),
    prompt: text(search.prompt),
    model: text(search.model),
  }),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.playgroundRoute))

const dashboard = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/dashboard',
  validateSearch: only(dashboardSearch),
}).lazy(() => import('./dashboards/lazy-route.tsx').then((module) => module.dashboardRoute))

const threads = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/threads',
  validateSearch: only(threadsSearch),
  async beforeLoad({ params, search }) {
    const found = await searchOfDefault('threads', `${params.entity}/${params.project}`, search)
    if (found)
      throw redirect({ to: '/p/$entity/$project/threads', params, search: threadsSearch(found), replace: true })
  },
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.threadsRoute))
const thread = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/threads/$threadId',
  validateSearch: only(threadSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.threadRoute))

/** `against` is the version that the messages are compared with. */
type PromptSearch = { against?: string | undefined; tz?: string | undefined }

type ObjectsSearch = {
  op?: '1' | undefined
  class?: ObjectKind | undefined
  page?: string | undefined
  tz?: string | undefined
}
const objectsSearch = ({ op, class: kind, page, tz }: Record<string, unknown>): ObjectsSearch => ({
  op: op === '1' ? '1' : undefined,
  class: objectKind(kind),
  page: pageOf(page),
  tz: text(tz),
})
const objects = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/objects',
  validateSearch: only(objectsSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.objectsRoute))
const versions = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/objects/$objectId',
  validateSearch: only(objectsSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.versionsRoute))

const prompts = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/prompts',
  validateSearch: only(
    ({ page, tz }: Record<string, unknown>): { page?: string | undefined; tz?: string | undefined } => ({
      page: pageOf(page),
      tz: text(tz),
    }),
  ),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.promptsRoute))
const latestPrompt = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/prompts/$objectId',
  beforeLoad({ params }) {
    const to = '/p/$entity/$project/prompts/$objectId/$version'
    throw redirect({ to, params: { ...params, version: 'latest' }, search: {}, replace: true })
  },
})
const prompt = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/prompts/$objectId/$version',
  validateSearch: only(
    ({ against, tz }: Record<string, unknown>): PromptSearch => ({
      against: text(against),
      tz: text(tz),
    }),
  ),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.promptRoute))

const dataset = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/datasets/$objectId/$version',
  validateSearch: only(tableSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.datasetRoute))
const table = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$entity/$project/tables/$digest',
  validateSearch: only(tableSearch),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.tableRoute))

const projectSearch = ({ project }: Record<string, unknown>): { project?: string | undefined } => ({
  project: /^[^/\s]+\/[^/\s]+$/.test(text(project) ?? '') ? text(project) : undefined,
})
const settingsFields = ['action', 'actor', 'target', 'days', 'scope', 'new'] as const
type SettingsSearch = { [Name in 'project' | (typeof settingsFields)[number]]?: string | undefined }
const anySettings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  beforeLoad() {
    throw redirect({ to: '/settings/$section', params: { section: 'you' }, replace: true })
  },
})
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings/$section',
  validateSearch: (search: Record<string, unknown>): SettingsSearch => ({
    ...projectSearch(search),
    ...Object.fromEntries(settingsFields.map((name) => [name, text(search[name])])),
  }),
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.settingsRoute))

const system = createRoute({
  getParentRoute: () => signedIn,
  path: '/system',
  validateSearch: projectSearch,
}).lazy(() => import('./lazy-routes.tsx').then((module) => module.systemRoute))

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([
    projects,
    project,
    calls,
    call,
    trace,
    object,
    objects,
    versions,
    prompts,
    latestPrompt,
    prompt,
    dataset,
    table,
    differences,
    evaluations,
    evaluation,
    comparison,
    queues,
    queue,
    queueItem,
    playground,
    dashboard,
    threads,
    thread,
    anySettings,
    settings,
    system,
  ]),
])

export const createPageRouter = () =>
  createRouter({
    routeTree,
    basepath: new URL(baseUrl).pathname,
    defaultPreload: 'intent',
    defaultErrorComponent: Failed,
    // Values stay as they are typed: `?q=status:error`.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(search))
        if (typeof value === 'string' && value !== '') query.set(name, value)
      const shown = query.toString().replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/')
      return shown === '' ? '' : `?${shown}`
    },
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPageRouter>
  }
}
