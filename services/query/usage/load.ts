// Reads the calls whose usage is added up: identity, parent and usage columns, and what is billed when costs are asked for.

import { fault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readPages } from '../calls/access/read-calls.ts'
import { allOf, everything, instants, scopeConditions } from '../calls/access/scope.ts'
import type { CallHeader } from '../calls/header.ts'
import { readPayloads } from '../calls/payloads.ts'
import type { CallReader, Page } from '../calls/reader.ts'
import { readTuples } from '../compact-rows.ts'
import { type Billed, billedColumns, billedOf } from '../costs/billed.ts'
import { type UsageColumns, usageOf } from './entries.ts'
import type { UsageBudget, UsageCall } from './rollup.ts'

/** Most calls of one answer, whatever limit is asked for. */
const maxCalls = 100_000
/** Calls that are read at once. */
const statementRows = 20_000
/** Most (call, model) pairs that are held at once: a chain of calls with a model each has as many as its square. */
const maxEntries = 400_000

/** Select list of a usage row; what pages and payloads look for stands where a light row has it. */
export const usageSelect = sql`c.id, c.trace_id, c.parent_id, toUnixTimestamp64Micro(c.started_at), toString(c.version), 0, '', 0,
  c.end_ver > 0, toUnixTimestamp64Micro(c.output_at), c.usage_model, c.usage_requests, c.usage_input, c.usage_output,
  c.usage_total, c.usage_cache_read, c.usage_cache_write`

type UsageRow = [
  id: string,
  traceId: string,
  parentId: string,
  startedUs: number,
  version: string,
  unused: 0,
  unused: '',
  unused: 0,
  hasEnd: 0 | 1,
  outputUs: number,
  ...usage: UsageColumns,
]
const usageModels = 10
/** Rows whose payloads are looked at in one statement. */
const payloadRows = 2_000

/** The billed tokens of the rows of a page, in their order. */
export async function billedOfRows(reader: CallReader, { rows, spread }: Page): Promise<ReadonlyMap<string, Billed>[]> {
  const { store, projectId, options } = reader
  const all = rows as unknown as UsageRow[]
  const withUsage = all.filter((row) => (row[usageModels] as string[]).length > 0)
  const found = new Map<UsageRow, ReadonlyMap<string, Billed>>()
  for (let from = 0; from < withUsage.length; from += payloadRows) {
    const some = withUsage.slice(from, from + payloadRows)
    const asked = some as unknown as CallHeader[]
    const payloads = await readPayloads(store, projectId, asked, billedColumns, spread, options)
    for (const [n, payload] of payloads.entries()) found.set(some[n] as UsageRow, billedOf(payload))
  }
  return all.map((row) => found.get(row) ?? new Map())
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
  const page = { select: usageSelect, limit: Math.min(limit, maxCalls + 1), offset: 0, rows: statementRows }
  for await (const read of readPages(reader, page)) {
    if (calls.length + read.rows.length > maxCalls) throw fault(400, `More than ${maxCalls} calls: lower the limit`)
    const billed = withCosts ? await billedOfRows(reader, read) : null
    for (const [n, row] of (read.rows as unknown as UsageRow[]).entries()) {
      const [id, traceId, parentId, startedUs, version, , , , hasEnd, , names, ...counts] = row
      budget.add(names.length)
      const usage = usageOf([names.map(shared), ...counts], billed?.[n] ?? null)
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
