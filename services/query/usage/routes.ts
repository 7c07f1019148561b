// Token usage of calls with their descendants: POST /calls/usage and POST /trace/usage.

import { callsUsageRequest, traceUsageRequest, usageResponse } from '../../../schemas/usage.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import type { TopicName } from '../../events/registry.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { callQueryTables, joinedTables, topicsOfQuery } from '../calls/conditions/joined-tables.ts'
import type { CallReader } from '../calls/reader.ts'
import { indexOf } from '../calls/scope.ts'
import type { Prices } from '../costs/prices.ts'
import { nonNegative } from '../list-rows.ts'
import { textReply } from '../text-reply.ts'
import { type CostsOf, costsBy, usageTexts } from './entries.ts'
import { createUsageBudget, loadCalls, readNested, readTraces } from './load.ts'
import { isNewer, rollUp, type UsageCall } from './rollup.ts'

export type UsageDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  freshness: Freshness
  prices: Prices
  feedbackPrefix: string
  /** Calls carry the usage of their children already: count each call's own share only. */
  usageOwnOnly: boolean
}

const maxIds = 1000
/** Without an index longer lists are read on the connections of exports. */
const listRows = 2_000
const byStart = [
  { field: 'started_at', direction: 'asc' },
  { field: 'id', direction: 'asc' },
] as const

/** Topics that an answer must not be older than. */
const topicsOf = (input: { include_costs: boolean }, calls: TopicName[] = ['calls']): TopicName[] =>
  input.include_costs ? [...calls, 'costs'] : calls

/** The answer for calls by id; null = no such call was loaded. */
function* answerTexts(
  usageById: ReadonlyMap<string, UsageCall | null>,
  calls: readonly UsageCall[],
): Generator<string> {
  let before = '{"call_usage":{'
  for (const [id, call] of usageById) {
    yield `${before}${JSON.stringify(id)}:`
    yield* usageTexts(call?.usage ?? null)
    before = ','
  }
  if (usageById.size === 0) yield before
  const unfinished = [...new Set(calls.filter((call) => call.isRunning).map((call) => call.id))].sort()
  yield `},"unfinished_call_ids":${JSON.stringify(unfinished)}}`
}

function newestById(calls: readonly UsageCall[], into: Map<string, UsageCall | null>): void {
  for (const call of calls) {
    const known = into.get(call.id)
    if (!known || isNewer(call.version, known.version)) into.set(call.id, call)
  }
}

export function createUsageRoutes(deps: UsageDeps): Route[] {
  const { store, freshness, prices, feedbackPrefix, usageOwnOnly: ownOnly } = deps
  const cache = createCountCache()

  async function load(
    reader: CallReader,
    wanted: { limit: number; withCosts: boolean; isKept: (call: UsageCall) => boolean },
  ): Promise<UsageCall[]> {
    const { limit, withCosts, isKept } = wanted
    const budget = createUsageBudget()
    const [calls, costsOf] = await Promise.all([
      loadCalls(reader, { limit, budget, withCosts }),
      withCosts ? prices.of(reader.projectId, reader.options).then(costsBy) : (null as CostsOf | null),
    ])
    const isNested = await readNested(reader, calls)
    rollUp(calls, { isKept, isNested, ownOnly, costsOf, budget })
    return calls
  }

  return [
    route({
      name: 'calls.usage',
      countsAll: true,
      method: 'POST',
      path: '/calls/usage',
      summary: 'Usage of some calls, each with its descendants',
      body: { type: 'json', schema: callsUsageRequest, check: 'schema' },
      response: usageResponse,
      tables: ['calls', 'call_keys', 'payloads', 'costs', 'usage_shares'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const limit = nonNegative('limit', input.limit) as number
        if (input.call_ids.length > maxIds)
          throw fault(400, `call_ids takes at most ${maxIds} values, got ${input.call_ids.length}`)
        const asked = new Map<string, UsageCall | null>(input.call_ids.map((id) => [id, null]))
        const headers = await freshness.wait(context, topicsOf(input))
        const source = { store, projectId, options: { signal }, cache }
        const traceIds = asked.size === 0 || limit === 0 ? [] : await readTraces(source, [...asked.keys()])
        if (traceIds.length === 0) return textReply(answerTexts(asked, []), headers)
        const query = compileCallsQuery({
          filter: { trace_ids: traceIds },
          sort_by: byStart,
          projectId,
          feedbackPrefix,
        })
        const calls = await load(
          { ...source, query },
          { limit, withCosts: input.include_costs, isKept: ({ id }) => asked.has(id) },
        )
        newestById(
          calls.filter(({ id }) => asked.has(id)),
          asked,
        )
        return textReply(answerTexts(asked, calls), headers)
      },
    }),
    route({
      name: 'traces.usage',
      countsAll: true,
      method: 'POST',
      path: '/trace/usage',
      summary: 'Usage of every call that matches, each with its matching descendants',
      body: { type: 'json', schema: traceUsageRequest, check: 'schema' },
      response: usageResponse,
      tables: [...callQueryTables, 'costs', ...joinedTables, 'usage_shares'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const limit = nonNegative('limit', input.limit) as number
        const { filter, query: expression } = input
        const query = compileCallsQuery({ filter, query: expression, sort_by: byStart, projectId, feedbackPrefix })
        const headers = await freshness.wait(context, topicsOf(input, topicsOfQuery(query)))
        const isLong = limit > listRows && indexOf(query.facts) === null
        const options = { pool: isLong ? 'export' : 'interactive', signal } as const
        const calls = await load(
          { store, projectId, query, options, cache },
          { limit, withCosts: input.include_costs, isKept: () => true },
        )
        const found = new Map<string, UsageCall | null>()
        newestById(calls, found)
        return textReply(answerTexts(found, calls), headers)
      },
    }),
  ]
}
