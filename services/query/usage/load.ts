// Reads the calls whose usage is added up: identity, parent and usage columns, no payload.
import { fault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, projectQuery, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { compactRows } from '../calls/light.ts'
import { type CallReader, readPages } from '../calls/plan.ts'
import { allOf, everything, scopeConditions } from '../calls/scope.ts'
import { type UsageColumns, usageOf } from './entries.ts'
import type { Budget, UsageCall } from './rollup.ts'

/** Most calls of one answer, whatever limit is asked for. */
const mostCalls = 100_000
/** Calls that are read at once. */
const statementRows = 20_000
/** Most (call, model) pairs that are held at once: a chain of calls with a model each has as many as its square. */
const mostEntries = 400_000

/** Select list of a usage row; the id and the start time stand where the pages of a call query look for them. */
const usageSelect = sql`c.id, c.trace_id, c.parent_id, toUnixTimestamp64Micro(c.started_at), c.end_ver > 0,
  toString(c.version), c.usage_model, c.usage_requests, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read,
  c.usage_cache_write`

type UsageRow = [
  id: string,
  traceId: string,
  parentId: string,
  startedUs: number,
  hasEnd: 0 | 1,
  version: string,
  ...usage: UsageColumns,
]

export function createBudget(): Budget {
  let held = 0
  return {
    add(entries) {
      held += entries
      if (held > mostEntries) throw fault(400, `Usage of more than ${mostEntries} calls and models: select fewer calls`)
    },
  }
}

/**
 * The matching calls in the order of start time and id, at most `limit`.
 * @throws Fault 400 when more would have to be held than `mostCalls`
 */
export async function loadCalls(reader: CallReader, options: { limit: number; budget: Budget }): Promise<UsageCall[]> {
  const { limit, budget } = options
  const calls: UsageCall[] = []
  const models = new Map<string, string>()
  const shared = (model: string): string => {
    const known = models.get(model)
    if (known === undefined) models.set(model, model)
    return known ?? model
  }
  const page = { select: usageSelect, limit: Math.min(limit, mostCalls + 1), offset: 0, rows: statementRows }
  for await (const { rows } of readPages(reader, page))
    for (const row of rows as unknown as UsageRow[]) {
      if (calls.length === mostCalls) throw fault(400, `More than ${mostCalls} calls: lower the limit`)
      const [id, traceId, parentId, startedUs, hasEnd, version, names, ...counts] = row
      budget.add(names.length)
      const usage = usageOf([names.map(shared), ...counts])
      calls.push({ id, traceId, parentId, startedUs, isRunning: hasEnd === 0, version, usage })
    }
  return calls
}

/** The trace of each call; of several calls with one span id the one that was written last. */
export const tracesOfQuery = (projectId: ProjectId, ids: string[]): Query =>
  projectQuery('usage.traces', projectId, (project) => {
    const index = { table: 'calls_by_id', column: sql`id`, values: ids } as const
    const where = [
      ...scopeConditions(project, { projectId, range: everything, index, keys: null }),
      sql`c.id IN ${param('Array(String)', ids)}`,
    ]
    return sql`SELECT DISTINCT trace FROM
      (SELECT argMax(c.trace_id, c.version) AS trace
      ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })} GROUP BY c.id)`
  })

export async function readTraces({ store, projectId, options }: Omit<CallReader, 'query'>, ids: string[]) {
  const answer = await store.bytes(tracesOfQuery(projectId, ids), 'JSONCompactEachRow', options)
  return compactRows<[string]>(answer).map(([trace]) => trace)
}
