// Every served route by each of its paths, every kind of caller, own, foreign and missing projects.
import { expect, it } from 'vitest'
import { rightOf } from '../../services/core/http/rights.ts'
import type { Route } from '../../services/core/http/route.ts'
import { type Answered, eachOf } from '../fixtures/asker.ts'
import type { FilledProject } from '../fixtures/filled-project.ts'
import { type Caller, type IsolationWorld, isGranted } from '../fixtures/isolation-world.ts'
import { type Example, examples, requestTo } from './route-examples.ts'
import {
  actionsOfRole,
  askedByAddress,
  declaredRight,
  missesInEmptyProject,
  type NeededRight,
  notServed,
  otherAnswers,
  readsOnItsWay,
  refusesForeign,
  rightOfRoute,
  withoutProject,
} from './route-rights.ts'

function holdsRight({ role, only, grants }: Caller, right: NeededRight): boolean {
  if (right === 'none') return true
  if (role === undefined) return false
  const isHeld = (action: string): boolean =>
    actionsOfRole[role].includes(action) &&
    (only === undefined || only.some((one) => one === action)) &&
    (action !== 'metrics' || grants.includes('*'))
  return right === 'any' || (right.includes('+') ? right.split('+').every(isHeld) : right.split(' ').some(isHeld))
}

/** Routes that begin and end sessions: `session.test.ts` asks these as the page does. */
const ofSessions = new Set(['auth.key', 'auth.logout', 'me.sessions_end'])

const refuses = (name: string): boolean => !withoutProject.has(name) || refusesForeign.has(name)

/** The status that the tables ask for. */
function expectedStatus(world: IsolationWorld, name: string, caller: Caller, { project }: FilledProject): number {
  const right = rightOfRoute.get(name) as NeededRight
  if (askedByAddress.has(name)) return 404
  if (caller.refused !== undefined && (right !== 'none' || name === 'auth.session')) return caller.refused
  if (right !== 'none' && caller.role === undefined) return 401
  if (!holdsRight(caller, right) || (readsOnItsWay.has(name) && !holdsRight(caller, 'read'))) return 403
  // Refs are answered like refs to nothing.
  if (refuses(name) && !isGranted(caller, project)) return name === 'refs.read_batch' ? 404 : 403
  if (notServed.has(name)) return 501
  const other = otherAnswers.get(name)
  if (other !== undefined) return other
  return project === world.unused.project && missesInEmptyProject.has(name) ? 404 : 200
}

type Case = { route: Route; path: string; who: string; of: FilledProject; expected: number; n: number }
type Outcome = Case & { answer: Answered }

const titleOf = ({ route, path, who, of }: Case) => `${route.method} ${path} by ${who} about ${of.project}`

/** Numbers of the requests of one route, apart from those of the others. */
const perRoute = 100

/** The requests of one route by one caller about one project. */
function casesOf(world: IsolationWorld, route: Route, path: string, who: string, of: FilledProject): Case[] {
  const { own, foreign, unused, callers } = world
  const caller = callers[who] as Caller
  const isOpen = isGranted(caller, of.project) && holdsRight(caller, rightOfRoute.get(route.name) as NeededRight)
  // The contents of the foreign project must stay as they are; one key is enough for an empty project.
  if (caller.isSession && caller.refused === undefined && ofSessions.has(route.name)) return []
  if (isOpen && (of === foreign || (of === unused && who !== 'a key of an owner'))) return []
  const one = { route, path, who, of, expected: expectedStatus(world, route.name, caller, of), n: 0 }
  // Every path is served below /traces too: a key is asked for, so the route is there.
  const isTwice = of === own && who === 'no key'
  return isTwice ? [one, { ...one, path: `/traces${path}` }] : [one]
}

/**
 * Every combination. Those that are let through come last, first those that write, as each read waits for writes; they
 * are numbered within their route.
 */
function allCases(world: IsolationWorld): Case[] {
  const { own, foreign, unused, missing, callers, server } = world
  const { routes } = server.now().http
  const used = new Map(routes.map(({ name }, index) => [name, index * perRoute]))
  const rankOf = ({ expected, route }: Case): number => (expected !== 200 ? 0 : route.right === 'read' ? 2 : 1)
  const cases = routes.flatMap((route) =>
    [route.path, ...(route.aliases ?? [])].flatMap((path) =>
      Object.entries(callers).flatMap(([who, caller]) =>
        // A caller without access is asked about existing and missing projects.
        (caller.role === undefined && who !== 'no key' ? [foreign, missing] : [own, foreign, unused, missing]).flatMap(
          (of) => casesOf(world, route, path, who, of),
        ),
      ),
    ),
  )
  cases.sort((a, b) => rankOf(a) - rankOf(b))
  for (const one of cases) {
    one.n = used.get(one.route.name) as number
    if (rankOf(one) > 0) used.set(one.route.name, one.n + 1)
  }
  return cases
}

/** The part of an answer that a caller sees, but for values that differ from request to request. */
function shownOf({ answer, of }: Outcome): string {
  const { 'x-request-id': _, date: __, ...headers } = answer.headers
  return JSON.stringify([answer.status, headers, answer.text.replaceAll(of.project, '<project>')])
}

export function matrixTests(world: () => IsolationWorld): void {
  it('the right of every served route is typed in, and the route declares the same', () => {
    const { routes } = world().server.now().http
    const names = routes.map(({ name }) => name).sort()
    expect(Object.keys(examples).sort()).toEqual(names)
    expect([...rightOfRoute.keys()].sort()).toEqual(names)
    expect(Object.fromEntries(routes.map(({ name, right }) => [name, right]))).toEqual(
      Object.fromEntries([...rightOfRoute].map(([name, right]) => [name, declaredRight(right)])),
    )
    expect(routes.filter(({ name }) => rightOf(name) === undefined)).toEqual([])
    const without = routes.filter((route) => route.withoutProject).map(({ name }) => name)
    expect(without.sort()).toEqual([...withoutProject].sort())
  })

  it('every path and caller is answered as the tables of rights say, and the same whether a foreign project holds anything', async () => {
    const { ask, foreign, missing, callers } = world()
    const outcomes: Outcome[] = []
    await eachOf(allCases(world()), 16, async (one) => {
      const { route, path, who, of, n } = one
      const sent = requestTo(route, path, (examples[route.name] as Example)(of, n), of.project)
      outcomes.push({ ...one, answer: await ask(who, sent) })
    })
    const wrong = outcomes.filter(({ answer, expected }) => answer.status !== expected)
    const told = ({ expected, answer: { status, text }, ...one }: Outcome) =>
      `${titleOf({ ...one, expected })} answered ${status}, not ${expected}: ${text.slice(0, 200)}`
    expect(wrong.slice(0, 20).map(told)).toEqual([])

    const keyOf = ({ route, path, who }: Case) => `${route.name} ${path} ${who}`
    const ofForeign = new Map(outcomes.filter(({ of }) => of === foreign).map((one) => [keyOf(one), one]))
    const refused = outcomes.filter(
      ({ of, who, route }) =>
        of === missing && !isGranted(callers[who] as Caller, foreign.project) && refuses(route.name),
    )
    const different = refused.filter((one) => shownOf(one) !== shownOf(ofForeign.get(keyOf(one)) as Outcome))
    expect(refused.length).toBeGreaterThan(500)
    expect(different.map(titleOf)).toEqual([])
  }, 240_000)
}
