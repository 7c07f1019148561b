// Finds the calls below some calls, in their traces, batch by batch, however many they are.
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { allOf, everything, type Index, instant, type Scope, timeConditions } from './scope.ts'

/** A call as it was read; deleteVer = the accept timestamp of its newest delete, '0' = it is not deleted. */
type Found = [id: string, parentId: string, deleteVer: string]
type Requested = [id: string, traceId: string, startedUs: string, deleteVer: string]

/** Place in the order of the keys: calls of one trace that begin at the same time are not told apart. */
type CallTime = readonly [traceId: string, startedUs: string]
/** Calls of some traces from a time on, after one place and up to another. */
type Range = { traceIds: readonly string[]; fromUs: number; after: CallTime | null; upTo: CallTime | null }

/** Conditions on a trace and a time, so that the order of the keys can be used. */
function rangeConditions({ traceIds, fromUs, after, upTo }: Range, trace: Sql, started: Sql): Sql[] {
  const conditions = [sql`${trace} IN (${param('Array(String)', traceIds)})`, sql`${started} >= ${instant(fromUs)}`]
  if (after !== null) {
    const first = param('String', after[0])
    conditions.push(sql`${trace} >= ${first}`, sql`(${trace} > ${first} OR ${started} > ${instant(Number(after[1]))})`)
  }
  if (upTo !== null) {
    const last = param('String', upTo[0])
    conditions.push(sql`${trace} <= ${last}`, sql`(${trace} < ${last} OR ${started} <= ${instant(Number(upTo[1]))})`)
  }
  return conditions
}

const traceKeys = (project: ProjectScope, range: Range): Sql =>
  project.from('call_keys', {
    where: allOf([sql`kind = 'trace_id'`, ...rangeConditions(range, sql`key`, sql`started_at`)]),
  })

/** The place at which a batch ends; none when it is the last one. */
export const boundaryQuery = (projectId: ProjectId, range: Range, calls: number): Query =>
  projectQuery(
    'calls.delete-boundary',
    projectId,
    (project) => sql`SELECT key, toString(toUnixTimestamp64Micro(started_at)) ${traceKeys(project, range)}
      ORDER BY key, started_at LIMIT 1 OFFSET ${param('UInt64', calls - 1)}`,
  )

/** The calls of a batch, deleted ones too: what lies below them may not be. */
export const descendantsQuery = (projectId: ProjectId, range: Range): Query =>
  projectQuery('calls.delete-batch', projectId, (project) => {
    const where = [
      sql`c.started_at IN (SELECT started_at ${traceKeys(project, range)})`,
      ...rangeConditions(range, sql`c.trace_id`, sql`c.started_at`),
      sql`c.moved = 0`,
    ]
    return sql`SELECT c.id, c.parent_id, toString(c.delete_ver)
      ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })}`
  })

/** The calls of some ids, deleted ones too. */
export const requestedQuery = (projectId: ProjectId, ids: string[]): Query =>
  projectQuery('calls.delete-requested', projectId, (project) => {
    const index: Index = { column: 'id', values: ids }
    const scope: Scope = { projectId, range: everything, index, keys: null }
    const where = [...timeConditions(project, sql`c.started_at`, scope), sql`c.id IN ${param('Array(String)', ids)}`]
    return sql`SELECT c.id, c.trace_id, toString(toUnixTimestamp64Micro(c.started_at)), toString(c.delete_ver)
      ${project.from('calls', { alias: 'c', final: true, where: allOf([...where, sql`c.moved = 0`]) })}`
  })

/** Those of some ids below which something may lie. */
export const parentsQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  projectQuery('calls.delete-parents', projectId, (project) => {
    const where = sql`kind = 'parent_id' AND key IN (${param('Array(String)', ids)})`
    return sql`SELECT DISTINCT key ${project.from('call_keys', { where })}`
  })

/** Those of some calls that were deleted since an accept timestamp. */
export const deletedSinceQuery = (projectId: ProjectId, ids: readonly string[], since: bigint): Query =>
  projectQuery('calls.delete-since', projectId, (project) => {
    const where = sql`id IN (${param('Array(String)', ids)}) AND delete_ver >= ${param('UInt64', String(since))}`
    return sql`SELECT DISTINCT id ${project.from('calls_deleted', { where })}`
  })

/** The ids and everything below them. */
export function withDescendants(
  ids: Iterable<string>,
  calls: Iterable<readonly [id: string, parentId: string, ...unknown[]]>,
): Set<string> {
  const children = new Map<string, string[]>()
  for (const [id, parentId] of calls) {
    if (parentId === '') continue
    const siblings = children.get(parentId)
    if (siblings) siblings.push(id)
    else children.set(parentId, [id])
  }
  const reached = new Set(ids)
  // A set is walked in the order of insertion, and what is added during the walk is reached too.
  for (const id of reached) for (const child of children.get(id) ?? []) reached.add(child)
  return reached
}

/** Descendants may begin this much before the call that was requested: clocks of two machines. */
const leewayUs = 1_000_000

export type WalkBounds = {
  /** Calls that are read at once. */
  batchRows: number
  /** Ids that are held: above it what was reached is read from the tables, by the deletes of this walk. */
  held: number
}
export const usualBounds: WalkBounds = { batchRows: 5_000, held: 500_000 }

export type DeletedTrees = { deleted: number; missing: number }

/**
 * Deletes calls and everything below them in their traces, batch by batch. Walks through deleted calls too, so a
 * walk that broke off is finished by the next one. Ids of no call do nothing. Traces are read where something lies below
 * one of the calls: most calls are leaves.
 * @param deps.read rows of a query
 * @param deps.append deletes of some calls, durable when it resolves
 * @param deps.settled resolves when what was appended can be read. @throws Fault when it takes too long
 * @returns how many calls were deleted, and how many of the ids are those of none
 */
export async function deleteWithDescendants(
  deps: {
    read<Row>(query: Query): Promise<Row[]>
    append(ids: readonly string[]): Promise<void>
    settled(): Promise<void>
    /** Before the accept timestamp of every delete that is appended. */
    beganClock: bigint
    bounds: WalkBounds
  },
  projectId: ProjectId,
  ids: string[],
): Promise<DeletedTrees> {
  const { read, append, settled, beganClock, bounds } = deps
  const requested = await read<Requested>(requestedQuery(projectId, ids))
  const missing = new Set(ids).size - new Set(requested.map(([id]) => id)).size
  if (requested.length === 0) return { deleted: 0, missing }
  const fromUs = requested.reduce((min, [, , us]) => Math.min(min, Number(us)), Number.POSITIVE_INFINITY) - leewayUs
  const reached = new Set<string>()
  /** Reached calls that were deleted before this walk. */
  let before: string[] = []
  let hasForgotten = false
  let deleted = 0

  const take = async (calls: Iterable<readonly [id: string, deleteVer: string]>): Promise<void> => {
    const living: string[] = []
    for (const [id, deleteVer] of calls) {
      if (reached.has(id)) continue
      reached.add(id)
      ;(deleteVer === '0' ? living : before).push(id)
    }
    if (living.length > 0) await append(living)
    deleted += living.length
  }

  /** The tables say from here on which calls were reached. */
  const forget = async (): Promise<void> => {
    if (before.length > 0) await append(before)
    await settled()
    before = []
    reached.clear()
    hasForgotten = true
  }

  /** The calls of a batch that lie below those that were reached, and are not among them yet. */
  const newAmong = async (calls: readonly Found[]): Promise<Found[]> => {
    const isReached = ([id, , deleteVer]: Found) => reached.has(id) || (hasForgotten && BigInt(deleteVer) >= beganClock)
    const unknown = hasForgotten
      ? [...new Set(calls.flatMap(([, parent]) => (reached.has(parent) ? [] : [parent])))]
      : []
    const since = unknown.length > 0 ? await read<[string]>(deletedSinceQuery(projectId, unknown, beganClock)) : []
    const parents = new Set(since.map(([id]) => id))
    const seeds = calls.filter((call) => isReached(call) || reached.has(call[1]) || parents.has(call[1]))
    const below = withDescendants(
      seeds.map(([id]) => id),
      calls,
    )
    return calls.filter((call) => below.has(call[0]) && !isReached(call))
  }

  await take(requested.map(([id, , , deleteVer]) => [id, deleteVer]))
  const parents = new Set((await read<[string]>(parentsQuery(projectId, ids))).map(([id]) => id))
  const traceIds = [...new Set(requested.flatMap(([id, traceId]) => (parents.has(id) ? [traceId] : [])))]
  for (let isDone = traceIds.length === 0; !isDone; ) {
    isDone = true
    for (let after: CallTime | null = null, hasMore = true; hasMore; ) {
      const range: Range = { traceIds, fromUs, after, upTo: null }
      const [upTo = null] = await read<CallTime>(boundaryQuery(projectId, range, bounds.batchRows))
      const found = await newAmong(await read<Found>(descendantsQuery(projectId, { ...range, upTo })))
      await take(found.map(([id, , deleteVer]) => [id, deleteVer]))
      hasMore = upTo !== null
      // A parent may come after its children in this order: one more walk, unless all of them were at hand together.
      if (found.length > 0 && (hasMore || after !== null)) isDone = false
      if (reached.size > bounds.held) await forget()
      after = upTo
    }
  }
  return { deleted, missing }
}
