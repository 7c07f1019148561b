// Threads: POST /threads/stream_query. A thread is the set of turn calls that share a thread id.

import { type ThreadsQueryRequest, threadsQueryRequest } from '../../../schemas/threads.ts'
import { formatTimestamp, parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { allOf, instant } from '../calls/scope.ts'
import { asNumbers, readTuples, rowReader } from '../compact-rows.ts'
import { linesType } from '../list-reply.ts'
import { listBounds } from '../list-rows.ts'
import { distinctTerms } from '../sort-terms.ts'

export type ThreadDeps = { store: Pick<Store, 'bytes'>; freshness: Freshness }

type Direction = 'asc' | 'desc'

export type ThreadsPage = {
  projectId: ProjectId
  afterUs: number | null
  beforeUs: number | null
  threadIds: string[] | null
  sort: { column: Sql; direction: Direction }[]
  limit: number | null
  offset: number
}

export const sortColumns = new Map<string, Sql>([
  ['thread_id', sql`thread`],
  ['turn_count', sql`turn_count`],
  ['start_time', sql`start_us`],
  ['last_updated', sql`last_us`],
  ['p50_turn_duration_ms', sql`p50`],
  ['p99_turn_duration_ms', sql`p99`],
])

const timesOf = ({ afterUs, beforeUs }: ThreadsPage): Sql[] => {
  const times: Sql[] = []
  if (afterUs !== null) times.push(sql`started_at > ${instant(afterUs)}`)
  if (beforeUs !== null) times.push(sql`started_at < ${instant(beforeUs)}`)
  return times
}

const ofListed = (page: ThreadsPage): Sql[] =>
  page.threadIds ? [sql`thread_id IN ${param('Array(String)', page.threadIds)}`] : []

/**
 * Keys (`started_at`, `id`) of turns whose parent is a turn of the same thread: every span of a conversation carries its
 * id, and they are one exchange. A turn may come before its parent, so this is decided here: the headers of the turns say
 * whose children they are.
 */
const innerTurns = (page: ThreadsPage, project: ProjectScope): Sql => {
  const parents = project.from('turns', { final: true, where: allOf([...ofListed(page), sql`hidden = 0`]) })
  return sql`SELECT started_at, id ${project.from('calls', {
    final: true,
    where: allOf([
      ...timesOf(page),
      sql`(started_at, id) IN (SELECT started_at, id ${project.from('turns', { where: allOf([...ofListed(page), ...timesOf(page)]) })})`,
      sql`turn_id = id AND parent_id != id AND (thread_id, parent_id) IN (SELECT thread_id, id ${parents})`,
    ]),
  })}`
}

/** Times in microseconds, durations in milliseconds. */
type ThreadRow = {
  thread: string
  turns: number
  startUs: number
  lastUs: number
  firstTurn: string
  lastTurn: string
  p50: number | null
  p99: number | null
}

const duration = sql`greatest(0, ended - started)`
const threadReader = rowReader<ThreadRow>({
  thread: sql`thread`,
  turns: sql`toUInt32(count()) AS turn_count`,
  startUs: sql`min(started) AS start_us`,
  lastUs: sql`maxIf(ended, ended != 0) AS last_us`,
  firstTurn: sql`argMin(id, started)`,
  lastTurn: sql`argMaxIf(id, ended, ended != 0)`,
  p50: sql`quantileExactInclusiveIf(0.5)(${duration}, ended != 0) / 1000 AS p50`,
  p99: sql`quantileExactInclusiveIf(0.99)(${duration}, ended != 0) / 1000 AS p99`,
})

/** Threads over rows of `id`, `started`, `ended` (0 = running) and `thread`, one row per turn. */
const grouped = (page: ThreadsPage, turns: Sql): Sql => {
  const terms = page.sort.map(
    ({ column, direction }) => sql`${column} ${direction === 'asc' ? sql`ASC` : sql`DESC`} NULLS LAST`,
  )
  const limit = page.limit === null ? 2 ** 53 - 1 : page.limit
  return sql`SELECT ${threadReader.select}
    FROM (${turns})
    GROUP BY thread HAVING countIf(ended != 0) > 0
    ORDER BY ${join([...terms, sql`thread ASC`], ', ')}
    LIMIT ${param('UInt64', limit)} OFFSET ${param('UInt64', page.offset)} ${asNumbers}`
}

/** Threads of turns that never changed their thread: the table's own versions are enough. */
export const threadsQuery = (page: ThreadsPage): Query =>
  projectQuery('threads.list', page.projectId, (project) => {
    const outer = sql`(started_at, id) NOT IN (${innerTurns(page, project)})`
    const where = [...timesOf(page), ...ofListed(page), sql`hidden = 0`, outer]
    return grouped(
      page,
      sql`SELECT id, toUnixTimestamp64Micro(started_at) AS started, toUnixTimestamp64Micro(ended_at) AS ended,
        thread_id AS thread ${project.from('turns', { final: true, where: allOf(where) })}`,
    )
  })

/** Turns that begin when a turn of the listed threads does: other versions of a call may lie outside these threads. */
const besideListed = (page: ThreadsPage, project: ProjectScope): Sql[] => {
  if (!page.threadIds) return []
  const listed = sql`thread_id IN ${param('Array(String)', page.threadIds)}`
  return [sql`started_at IN (SELECT started_at ${project.from('turns', { where: allOf([listed, ...timesOf(page)]) })})`]
}

/** Whether a turn of these times, and of these threads, stands under two threads: it was sent again with another one. */
export const changedThreadsQuery = (page: ThreadsPage): Query =>
  projectQuery('threads.changed', page.projectId, (project) => {
    const where = allOf([...timesOf(page), ...besideListed(page, project)])
    return sql`SELECT uniqExact(sipHash64(id, started_at, thread_id)) != uniqExact(sipHash64(id, started_at))
      ${project.from('turns', { where })}`
  })

/**
 * The latest threads by a bound of when they were last updated: no version of a turn is left out, so that no thread was
 * updated after its bound.
 */
export const latestThreadsQuery = (page: ThreadsPage, count: number): Query =>
  projectQuery('threads.latest', page.projectId, (project) => {
    const where = [...timesOf(page), ...ofListed(page)]
    return sql`SELECT thread_id, toString(toUnixTimestamp64Micro(max(ended_at))) AS bound
      ${project.from('turns', { where: allOf(where) })}
      GROUP BY thread_id ORDER BY max(ended_at) DESC LIMIT ${param('UInt64', count)}`
  })

/** The same threads when a turn changed its thread: its newest version decides. */
export const finishedThreadsQuery = (page: ThreadsPage): Query =>
  projectQuery('threads.settled', page.projectId, (project) => {
    const kept = page.threadIds ? sql`gone = 0 AND thread IN ${param('Array(String)', page.threadIds)}` : sql`gone = 0`
    return grouped(
      page,
      sql`SELECT * FROM (SELECT id, started_at, toUnixTimestamp64Micro(started_at) AS started,
        argMax(toUnixTimestamp64Micro(ended_at), version) AS ended, argMax(thread_id, version) AS thread,
        argMax(hidden, version) AS gone
      ${project.from('turns', { where: allOf([...timesOf(page), ...besideListed(page, project)]) })} GROUP BY id, started_at)
      WHERE ${kept} AND (started_at, id) NOT IN (${innerTurns(page, project)})`,
    )
  })

const lineOf = (row: ThreadRow): string =>
  `${JSON.stringify({
    thread_id: row.thread,
    turn_count: row.turns,
    start_time: formatTimestamp(row.startUs),
    last_updated: formatTimestamp(row.lastUs),
    first_turn_id: row.firstTurn,
    last_turn_id: row.lastTurn,
    p50_turn_duration_ms: row.p50,
    p99_turn_duration_ms: row.p99,
  })}\n`

const linesPerChunk = 500

async function* chunks(rows: ThreadRow[]): AsyncGenerator<string> {
  for (let i = 0; i < rows.length; i += linesPerChunk)
    yield rows
      .slice(i, i + linesPerChunk)
      .map(lineOf)
      .join('')
}

function timeOf(name: string, value: string | number | undefined): number | null {
  if (value === undefined) return null
  const us = parseTimestamp(value)
  if (us === null) throw fault(400, `Invalid ${name}: ${JSON.stringify(value).slice(0, 100)}`)
  // No call begins outside these, and the engine has no time for the years beyond.
  return Math.min(Math.max(us, 0), Number.MAX_SAFE_INTEGER)
}

function sortOf(terms: ThreadsQueryRequest['sort_by']): ThreadsPage['sort'] {
  const asked = terms?.length ? terms : [{ field: 'last_updated', direction: 'desc' as const }]
  return distinctTerms(asked).map(({ field, direction }) => {
    const column = sortColumns.get(field)
    if (column === undefined) throw fault(400, `Unsupported sort field: ${field.slice(0, 200)}`)
    return { column, direction }
  })
}

type Source = { store: Pick<Store, 'bytes'>; options: QueryOptions }

async function find({ store, options }: Source, page: ThreadsPage): Promise<ThreadRow[]> {
  const [threads, [changed]] = await Promise.all([
    threadReader.read(store, threadsQuery(page), options),
    readTuples<[number]>(store, changedThreadsQuery(page), options),
  ])
  return changed?.[0] === 1 ? threadReader.read(store, finishedThreadsQuery(page), options) : threads
}

/** Longer pages are not worth two looks. */
const maxLatest = 1_000
/** Many threads of one time: all of them are looked at. */
const maxCandidates = 20_000

/** Whether a page of the threads that were updated last is asked for: most lists are. */
const isLatest = ({ limit, offset }: ThreadsPage, { sort_by }: ThreadsQueryRequest): boolean =>
  limit !== null &&
  limit + offset <= maxLatest &&
  (!sort_by?.length ||
    (sort_by.length === 1 && sort_by[0]?.field === 'last_updated' && sort_by[0].direction === 'desc'))

/** The latest threads: candidates by their bounds, and as many of them as are certainly later than all others. */
async function findLatest(source: Source, page: ThreadsPage): Promise<ThreadRow[]> {
  const wanted = page.offset + (page.limit as number)
  for (let count = wanted + 10; count <= maxCandidates; count *= 8) {
    const latest = latestThreadsQuery(page, count + 1)
    const bounds = await readTuples<[thread: string, bound: string]>(source.store, latest, source.options)
    const others = bounds[count]
    const threadIds = bounds.slice(0, count).map(([thread]) => thread)
    if (threadIds.length === 0) return []
    const rows = await find(source, { ...page, threadIds, limit: null, offset: 0 })
    const certain = others ? rows.filter(({ lastUs }) => lastUs > Number(others[1])) : rows
    if (!others || certain.length >= wanted) return certain.slice(page.offset, wanted)
  }
  return find(source, page)
}

export function createThreadRoutes({ store, freshness }: ThreadDeps): Route[] {
  async function streamQuery(context: RouteContext<ThreadsQueryRequest>): Promise<Reply> {
    const { input, signal } = context
    const { filter } = input
    const page: ThreadsPage = {
      projectId: context.project(input.project_id),
      afterUs: timeOf('after_datetime', filter?.after_datetime),
      beforeUs: timeOf('before_datetime', filter?.before_datetime),
      threadIds: filter?.thread_ids?.length ? filter.thread_ids : null,
      sort: sortOf(input.sort_by),
      ...listBounds(input),
    }
    const headers = await freshness.wait(context, ['calls'])
    const source = { store, options: { signal } }
    const rows = page.limit === 0 ? [] : await (isLatest(page, input) ? findLatest : find)(source, page)
    return { lines: chunks(rows), contentType: linesType(context.header('accept'), 'application/x-ndjson'), headers }
  }

  return [
    route({
      name: 'threads.stream_query',
      method: 'POST',
      path: '/threads/stream_query',
      summary: 'Threads with their turns, times and durations, as JSON Lines',
      body: { type: 'json', schema: threadsQueryRequest, check: 'schema' },
      response: null,
      responseType: 'application/x-ndjson',
      tables: ['turns', 'calls'],
      handle: streamQuery,
    }),
  ]
}
