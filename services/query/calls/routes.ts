// The read routes of calls: POST /call/read, POST /calls/stream_query and, from query-stats.ts, /calls/query_stats.
import {
  type CallsQueryRequest,
  callReadRequest,
  callReadResponse,
  callRecord,
  callsQueryRequest,
} from '../../../schemas/calls-read.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { concat } from '../../core/memory/buffer-pool.ts'
import type { Store } from '../../core/store/store.ts'
import type { TopicName } from '../../events/registry.ts'
import { billedColumns } from '../costs/billed.ts'
import type { Prices } from '../costs/prices.ts'
import { linesType } from '../list-reply.ts'
import { listBounds } from '../list-rows.ts'
import { type CountCache, createCountCache } from './access/counts.ts'
import { readCall, readPages } from './access/read-calls.ts'
import { createCellRoutes } from './cells.ts'
import { requestedColumns } from './columns.ts'
import { compileCallsQuery } from './conditions/compile-query.ts'
import {
  callQueryTables,
  joinedTables,
  referredTables,
  topicsOfQuery,
  traceTables,
} from './conditions/joined-tables.ts'
import type { CompiledCallsQuery } from './conditions/types.ts'
import { costsOfCalls } from './costs.ts'
import { createExpansion } from './expand.ts'
import { headerReader } from './header.ts'
import { pricesFor } from './model-prices.ts'
import { payloadsFromUs, readPartsAtStart, readPayloads } from './payloads.ts'
import { createQueryStatsRoutes } from './query-stats.ts'
import type { ReadWholeTraces } from './reader.ts'
import { documentsForColumns, type RecordShape, writeRecord } from './record.ts'
import { indexOf } from './scope.ts'
import { recordLines, started } from './stream.ts'
import { readTraceSizes } from './trace-sizes.ts'
import { createValueRoutes } from './values.ts'

export type CallReadDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  freshness: Freshness
  prices: Prices
  wholeTraces: ReadWholeTraces
  wirePrefix: 'platform' | 'wb'
  /** Whether payloads have an index of words. */
  words?: boolean
  feedbackPrefix: string
  /** Called with refs to nothing that were met when it was too late for a fault. */
  onMissingRefs(projectId: string, digests: string[]): void
}

/** Longer answers are exports with their own connections and time, unless an index leads to their calls. */
const listRows = 2_000

/** Topics of an answer, which must not be older than them. */
function topicsOf(
  input: { include_costs: boolean; include_feedback?: boolean },
  query: Pick<CompiledCallsQuery, 'derivedFields'>,
  showsExpanded: boolean,
): TopicName[] {
  const topics = new Set<TopicName>(topicsOfQuery(query))
  if (input.include_costs) topics.add('costs')
  if (input.include_feedback) topics.add('feedback')
  if (showsExpanded) for (const topic of ['objects', 'tables'] as const) topics.add(topic)
  return [...topics]
}

type Deps = CallReadDeps & { cache: CountCache }

function streamQueryRoute(deps: Deps): Route {
  const { store, freshness, prices, wirePrefix, feedbackPrefix, words, cache, wholeTraces } = deps

  async function streamQuery(context: RouteContext<CallsQueryRequest>): Promise<Reply> {
    const { input, signal } = context
    const projectId = context.project(input.project_id)
    const { limit, offset } = listBounds(input)
    const { filter, query: expression, sort_by, expand_columns: expanded = [] } = input
    const modelPrices = await pricesFor(deps, projectId, context)
    const compiled = compileCallsQuery({
      filter,
      query: expression,
      sort_by,
      expand_columns: expanded,
      projectId,
      feedbackPrefix,
      prices: modelPrices,
      wholeTraces: true,
    })
    // Costs stand in the summary and are made from it.
    const withSummary = input.include_costs && input.columns?.length ? [...input.columns, 'summary'] : input.columns
    const columns = requestedColumns(withSummary)
    const showsExpanded = expanded.length > 0 && input.return_expanded_column_values !== false
    const headers = await freshness.wait(context, topicsOf(input, compiled, showsExpanded))
    const query = await wholeTraces(compiled, { projectId, options: { signal } })
    const isLong = (limit === null || limit > listRows) && indexOf(query.facts) === null
    const options = { pool: isLong ? 'export' : 'interactive', signal } as const
    const documents = [...documentsForColumns(columns), ...(input.include_costs ? billedColumns : [])]
    const areRoots = query.facts.rootsOnly
    const totalSize = input.include_total_storage_size
    const readsParent = columns !== null && (areRoots || totalSize)
    const header = headerReader(
      readsParent ? new Set([...columns, 'parent_id']) : columns,
      documents.length > 0 || input.include_storage_size,
    )
    const pages = readPages({ store, projectId, query, options, cache, words }, { columns: header, limit, offset })
    const shape: RecordShape = {
      projectId,
      prefix: wirePrefix,
      columns,
      storageSize: input.include_storage_size,
      usernames: input.include_usernames,
      totalSizes: null,
      costs: input.include_costs ? costsOfCalls(await prices.of(projectId, options)) : null,
      payloadsFromUs: payloadsFromUs(projectId),
      feedback: null,
      areRoots,
    }
    const feedback = input.include_feedback
    const expansion = showsExpanded
      ? createExpansion({ store, projectId, options }, expanded, (digests) => deps.onMissingRefs(projectId, digests))
      : null
    return {
      lines: await started(
        recordLines(pages, { store, projectId, documents, shape, totalSize, feedback, expansion, isLong, options }),
      ),
      contentType: linesType(context.header('accept'), 'application/jsonl'),
      headers,
    }
  }

  return route({
    name: 'calls.stream_query',
    method: 'POST',
    path: '/calls/stream_query',
    summary: 'Calls that match a filter and a query, sorted, as JSON Lines',
    body: { type: 'json', schema: callsQueryRequest, check: 'schema' },
    response: null,
    responseType: 'application/jsonl',
    line: callRecord,
    tables: [...callQueryTables, ...joinedTables, ...traceTables, ...referredTables],
    handle: streamQuery,
  })
}

const readRoute = ({ store, freshness, prices, wirePrefix, feedbackPrefix, cache }: Deps): Route =>
  route({
    name: 'calls.read',
    method: 'POST',
    path: '/call/read',
    summary: 'One call by id',
    body: { type: 'json', schema: callReadRequest, check: 'schema' },
    response: callReadResponse,
    tables: ['calls', 'call_keys', 'payloads', 'costs'],
    async handle(context) {
      const { input, signal } = context
      const projectId = context.project(input.project_id)
      const query = compileCallsQuery({ filter: { call_ids: [input.id] }, projectId, feedbackPrefix })
      const headers = await freshness.wait(context, topicsOf(input, query, false))
      const options = { signal }
      const documents = [...documentsForColumns(null), ...(input.include_costs ? billedColumns : [])]
      const index = indexOf(query.facts)
      const [row, early] = await Promise.all([
        readCall({ store, projectId, query, options, cache }, headerReader(null, true)),
        index && readPartsAtStart(store, projectId, index, documents, options),
      ])
      if (row === null) return { json: { call: null }, headers }
      const [[payload = {}], totalSizes, book] = await Promise.all([
        readPayloads(store, projectId, [row], documents, 'scattered', options, early),
        input.include_total_storage_size ? readTraceSizes({ store, options }, projectId, [row]) : null,
        input.include_costs ? prices.of(projectId, options) : null,
      ])
      const pieces: (string | Buffer)[] = ['{"call":']
      const shape: RecordShape = {
        projectId,
        prefix: wirePrefix,
        columns: null,
        storageSize: input.include_storage_size,
        usernames: false,
        totalSizes,
        costs: book && costsOfCalls(book),
        payloadsFromUs: payloadsFromUs(projectId),
        feedback: null,
        areRoots: false,
      }
      writeRecord(shape, row, payload, pieces)
      pieces.push('}')
      return { jsonText: concat(pieces), headers }
    },
  })

export function createCallReadRoutes(given: CallReadDeps): Route[] {
  const deps: Deps = { ...given, cache: createCountCache() }
  return [
    readRoute(deps),
    streamQueryRoute(deps),
    ...createQueryStatsRoutes(deps),
    ...createCellRoutes(deps),
    ...createValueRoutes(deps),
  ]
}
