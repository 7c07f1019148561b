// Reading and removing prices of a project: POST /cost/query and POST /cost/purge.

import { costPurgeRequest, costPurgeResponse, costQueryRequest, costQueryResponse } from '../../../schemas/costs.ts'
import type { SortTerm } from '../../../schemas/query.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { costsPurgedRecord } from '../../events/costs.ts'
import { projectQuery } from '../../events/project-query.ts'
import { checkTypes } from '../feedback/condition.ts'
import { compileCondition } from '../language/compile.ts'
import { parseQuery } from '../language/parse.ts'
import type { Condition } from '../language/types.ts'
import { listReply } from '../list-reply.ts'
import { inSlices, listBounds } from '../list-rows.ts'
import { purgedIds } from '../purge-ids.ts'
import { distinctTerms } from '../sort-terms.ts'
import { costFields, priceColumn, shownColumns } from './fields.ts'

export type CostReadDeps = {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  audit: Pick<Audit, 'begin'>
}

type Row = Record<(typeof shownColumns)[number], string | number>
type Stored = Row & { effective_us: string }

const asMade = (['created_at', 'id'] as const).map((field) => ({ field, direction: 'asc' as const }))
const source = (column: string) => identifier(`c.${column}`)

/** Null = as they are. @throws Fault 400 for unknown names and for too many of them */
function orderOf(sortBy: readonly SortTerm[]): Sql | null {
  const terms = distinctTerms(sortBy)
  if (terms.length === 0) return null
  const words = { asc: sql`ASC`, desc: sql`DESC` }
  const byId = terms.some(({ field }) => field === 'id') ? [] : [{ field: 'id', direction: 'desc' as const }]
  const columns = [...terms, ...byId].map(
    ({ field, direction }) => sql`${priceColumn(field).sql(source)} ${words[direction]}`,
  )
  return join(columns, ', ')
}

export const costsQuery = (
  projectId: ProjectId,
  condition: Condition | null,
  order: Sql | null,
  { limit, offset }: { limit: number; offset: number },
): Query =>
  projectQuery('costs.query', projectId, (project) => {
    const matching = condition === null ? sql`` : sql` AND ${compileCondition(condition, source)}`
    const where = sql`NOT c.purged${matching}`
    const sorted = order === null ? sql`c.id` : sql`${order}, c.id`
    return sql`SELECT c.id AS id, c.llm_id AS llm_id, c.prompt_token_cost AS prompt_token_cost,
      c.completion_token_cost AS completion_token_cost,
      c.cache_read_input_token_cost AS cache_read_input_token_cost,
      c.cache_creation_input_token_cost AS cache_creation_input_token_cost,
      c.prompt_token_cost_unit AS prompt_token_cost_unit,
      c.completion_token_cost_unit AS completion_token_cost_unit,
      toUnixTimestamp64Micro(c.effective_date) AS effective_us, c.provider_id AS provider_id
    ${project.from('costs', { alias: 'c', final: true, where })} ORDER BY ${sorted}
    LIMIT ${param('UInt64', limit)} OFFSET ${param('UInt64', offset)}`
  })

export function createCostReadRoutes({ store, log, clock, freshness, audit }: CostReadDeps): Route[] {
  return [
    route({
      name: 'costs.query',
      method: 'POST',
      path: '/cost/query',
      summary: 'Prices of a project that match a query, without default prices',
      body: { type: 'json', schema: costQueryRequest, check: 'schema' },
      response: costQueryResponse,
      tables: ['costs'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const bounds = listBounds(input)
        for (const field of input.fields ?? []) costFields(field)
        const condition = parseQuery(input.query, costFields, 'unknown')
        if (input.query) checkTypes(input.query.$expr, costFields)
        const order = orderOf(input.sort_by ?? asMade)
        const headers = await freshness.wait(context, ['costs'])
        const asked = new Set(input.fields?.length ? input.fields : shownColumns)
        const textOf = ({ effective_us, ...row }: Stored): string => {
          const all: Row = { ...row, effective_date: formatTimestamp(Number(effective_us)) }
          return JSON.stringify(
            Object.fromEntries(shownColumns.map((name) => [name, asked.has(name) ? all[name] : null])),
          )
        }
        const slices = inSlices(
          (slice) => store.rows<Stored>(costsQuery(projectId, condition, order, slice), { signal }),
          bounds,
        )
        async function* texts(): AsyncGenerator<string> {
          for await (const rows of slices) yield rows.map(textOf).join(',')
        }
        return listReply('results', texts(), headers)
      },
    }),
    route({
      name: 'costs.purge',
      method: 'POST',
      path: '/cost/purge',
      summary: 'Removes prices of a project by their ids; costs of past calls change with them',
      body: { type: 'json', schema: costPurgeRequest, check: 'schema' },
      response: costPurgeResponse,
      topics: ['costs'],
      async handle({ input, project }) {
        const projectId = project(input.project_id)
        const ids = purgedIds(input.query.$expr)
        if (ids.length === 0) return { json: {} }
        const event = { action: 'price.purged', scope: projectId, details: { price_ids: idsOf(ids) } }
        const position = await audited(audit, [event], () =>
          log.append('costs', [costsPurgedRecord(projectId, ids, clock.next())]),
        )
        return { json: {}, headers: { [positionHeader]: formatPositions([position]) } }
      },
    }),
  ]
}
