// Reads the calls whose usage is added up: identity, parent and usage columns, and what is billed when costs are asked for.

import { fault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readPages } from '../calls/access/read-calls.ts'
import { type PayloadPlace, payloadPlace, readPayloads } from '../calls/payloads.ts'
import type { CallReader, Page } from '../calls/reader.ts'
import { allOf, everything, instants, scopeConditions } from '../calls/scope.ts'
import { type Columns, readTuples, rowReader } from '../compact-rows.ts'
import { type Billed, billedColumns, billedOf } from '../costs/billed.ts'
import { type UsageColumns, usageOf } from './entries.ts'
import type { UsageBudget, UsageCall } from './rollup.ts'

/** Most calls of one answer, whatever limit is asked for. */
const maxCalls = 100_000
/** Calls that are read at once. */
const statementRows = 20_000
/** Most (call, model) pairs that are held at once: a chain of calls with a model each has as many as its square. */
const maxEntries = 400_000

/** Columns of calls that tell what is billed of them. */
export const billedRowColumns: Columns<PayloadPlace & UsageColumns> = {
  ...payloadPlace,
  models: sql`c.usage_model`,
  requests: sql`c.usage_requests`,
  input: sql`c.usage_input`,
  output: sql`c.usage_output`,
  total: sql`c.usage_total`,
  cacheRead: sql`c.usage_cache_read`,
  cacheWrite: sql`c.usage_cache_write`,
}

type UsageRow = PayloadPlace & UsageColumns & { traceId: string; parentId: string; version: string }
const usageReader = rowReader<UsageRow>({
  ...billedRowColumns,
  traceId: sql`c.trace_id`,
  parentId: sql`c.parent_id`,
  version: sql`toString(c.version)`,
})
/** Rows whose payloads are looked at in one statement. */
const payloadRows = 2_000

/** The billed tokens of the rows of a page, in their order. */
export async function billedOfRows(
  reader: CallReader,
  { rows, spread }: Page<PayloadPlace & UsageColumns>,
): Promise<ReadonlyMap<string, Billed>[]> {
  const { store, projectId, options } = reader
  const withUsage = rows.filter(({ models }) => models.length > 0)
  const found = new Map<PayloadPlace, ReadonlyMap<string, Billed>>()
  for (let from = 0; from < withUsage.length; from += payloadRows) {
    const some = withUsage.slice(from, from + payloadRows)
    const payloads = await readPayloads(store, projectId, some, billedColumns, spread, options)
    for (const [n, payload] of payloads.entries()) found.set(some[n] as PayloadPlace, billedOf(payload))
  }
  return rows.map((row) => found.get(row) ?? new Map())
}

export function createUsageBudget(): UsageBudget {
  let held = 0
  return {
    add(entries) {
      held += entries
      if (held > maxEntries) throw fault(400, `Usage of more than ${maxEntries} calls and models: select fewer calls`)
    },
  }
}

/**
 * The matching calls in the order of start time and id, at most `limit`.
 * @throws Fault 400 when more would have to be held than `maxCalls`
 */
export async function loadCalls(
  reader: CallReader,
  options: { limit: number; budget: UsageBudget; withCosts: boolean },
): Promise<UsageCall[]> {
  const { limit, budget, withCosts } = options
  const calls: UsageCall[] = []
  const models = new Map<string, string>()
  const shared = (model: string): string => {
    const known = models.get(model)
    if (known === undefined) models.set(model, model)
    return known ?? model
  }
  const page = { columns: usageReader, limit: Math.min(limit, maxCalls + 1), offset: 0, rows: statementRows }
  for await (const read of readPages(reader, page)) {
    if (calls.length + read.rows.length > maxCalls) throw fault(400, `More than ${maxCalls} calls: lower the limit`)
    const billed = withCosts ? await billedOfRows(reader, read) : null
    for (const [n, row] of read.rows.entries()) {
      const { id, traceId, parentId, startedUs, version, hasEnd } = row
      budget.add(row.models.length)
      const usage = usageOf({ ...row, models: row.models.map(shared) }, billed?.[n] ?? null)
      calls.push({ id, traceId, parentId, startedUs, isRunning: hasEnd === 0, version, usage })
    }
  }
  return calls
}

/** The given calls that are spans and report the sum of those below them, by their ids. */
export const nestedQuery = (projectId: ProjectId, calls: readonly UsageCall[]): Query =>
  projectQuery('usage.nested', projectId, (project) => {
    const ids = calls.map(({ id }) => id)
    const where = [
      sql`started_at IN ${instants(calls.map(({ startedUs }) => startedUs))}`,
      sql`id IN ${param('Array(String)', ids)}`,
      sql`nested = 1`,
    ]
    return sql`SELECT toUnixTimestamp64Micro(started_at), id ${project.from('usage_shares', { final: true, where: allOf(where) })}`
  })

const spanId = /^[0-9a-f]{16}$/
/** Calls of one look for those that are nested. */
const nestedAtOnce = 20_000

/** @returns whether a call, which was loaded with those below it, is a span that reports their sum */
export async function readNested(
  { store, projectId, options }: Omit<CallReader, 'query'>,
  calls: readonly UsageCall[],
) {
  const above = new Set(calls.map(({ parentId }) => parentId))
  const asked = calls.filter(({ id, usage }) => usage !== null && spanId.test(id) && above.has(id))
  const found = new Set<string>()
  for (let from = 0; from < asked.length; from += nestedAtOnce) {
    const query = nestedQuery(projectId, asked.slice(from, from + nestedAtOnce))
    for (const row of await readTuples<[string, string]>(store, query, options)) found.add(row.join(' '))
  }
  return ({ startedUs, id }: UsageCall): boolean => found.has(`${startedUs} ${id}`)
}

/** The trace of each call; of several calls with one span id the one that was written last. */
export const tracesOfQuery = (projectId: ProjectId, ids: string[]): Query =>
  projectQuery('usage.traces', projectId, (project) => {
    const index = { column: 'id', values: ids } as const
    const where = [
      ...scopeConditions(project, { projectId, range: everything, index, keys: null }),
      sql`c.id IN ${param('Array(String)', ids)}`,
    ]
    return sql`SELECT DISTINCT trace FROM
      (SELECT argMax(c.trace_id, c.version) AS trace
      ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })} GROUP BY c.id)`
  })

export async function readTraces({ store, projectId, options }: Omit<CallReader, 'query'>, ids: string[]) {
  const traces = await readTuples<[string]>(store, tracesOfQuery(projectId, ids), options)
  return traces.map(([trace]) => trace)
}
