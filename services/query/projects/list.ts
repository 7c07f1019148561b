// The projects that a key may read, with what the counters know of each.
import type { z } from 'zod'
import type { projectsQueryRequest, projectsQueryResponse } from '../../../schemas/projects.ts'
import { callCutoffs, type RetentionSource } from '../../core/directory/retention.ts'
import type { Caller } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'

type Entry = z.output<typeof projectsQueryResponse>['projects'][number]
type Request = z.output<typeof projectsQueryRequest>

/** Times as ISO text, `` where there is none; counts as texts, as the engine writes 64 bits. */
type Row = { project: string; calls: string; calls24: string; errors24: string; first: number; last: number }

/** A project is known by its calls, also those that are not counted yet, or by its objects. */
const statement = (
  hourOf: Sql,
): Sql => sql`SELECT project_id AS project, toString(sum(n)) AS calls, toString(sum(n24)) AS calls24,
    toString(sum(e24)) AS errors24, min(first) AS first, max(last) AS last
  FROM
  (
    SELECT project_id, toInt64(calls) AS n, 0 AS n24, 0 AS e24,
      if(calls > 0, toUnixTimestamp(hour), 4294967295) AS first, 0 AS last
    FROM callhouse.call_counts_hourly FINAL WHERE hour >= ${hourOf}
    UNION ALL
    SELECT project_id, 0, toInt64(sum(calls)), 0, 4294967295, max(if(calls > 0, toUnixTimestamp(minute), 0))
    FROM callhouse.call_counts FINAL WHERE minute >= now() - INTERVAL 1 DAY GROUP BY project_id
    UNION ALL
    SELECT project_id, 0, 0, toInt64(sum(errors)), 4294967295, 0
    FROM callhouse.call_stats FINAL WHERE seconds = 60 AND bucket >= now() - INTERVAL 1 DAY GROUP BY project_id
    UNION ALL
    SELECT project_id, 0, 0, 0, 4294967295, max(if(calls > 0, toUnixTimestamp(hour), 0))
    FROM callhouse.call_counts_hourly FINAL WHERE hour >= ${hourOf} GROUP BY project_id
    UNION ALL
    SELECT DISTINCT project_id, 0, 0, 0, 4294967295, 0 FROM callhouse.call_marks
    UNION ALL
    SELECT DISTINCT project_id, 0, 0, 0, 4294967295, 0 FROM callhouse.objects
  )
  GROUP BY project_id`

/** @param known from which hour on calls of projects are seen */
export function projectsListQuery(known: ReturnType<typeof callCutoffs>): Query {
  const others = param('Int64', known.others)
  const seconds =
    known.projects.length === 0
      ? others
      : sql`transform(project_id, ${param('Array(String)', known.projects)}, ${param('Array(Int64)', known.cutoffs)}, ${others})`
  return systemQuery('projects.list', statement(sql`toDateTime(${seconds}, 'UTC')`))
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

const entryOf = ({ project, calls, calls24, errors24, first, last }: Row): Entry => ({
  project_id: project,
  calls: Number(calls),
  calls_24h: Number(calls24),
  errors_24h: Number(errors24),
  first_call_at: Number(first) === 4_294_967_295 ? null : isoOf(Number(first)),
  last_call_at: Number(last) === 0 ? null : isoOf(Number(last)),
})

const compare = (a: string | number | null, b: string | number | null): number =>
  a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1

const maxProjects = 1_000

/** Rows of projects that the caller may not read never leave this function. */
export async function listProjects(
  { store, retention }: { store: Pick<Store, 'rows'>; retention: RetentionSource },
  { search, sort_by, limit, offset }: Request,
  caller: Caller,
  options: QueryOptions,
): Promise<z.output<typeof projectsQueryResponse>> {
  const rows = await store.rows<Row>(projectsListQuery(callCutoffs(retention)), options)
  const wanted = (search ?? '').toLowerCase()
  const entries = rows
    .filter(
      ({ project }) =>
        caller.may('read', project as ProjectId) &&
        !retention.isRemoved(project) &&
        project.toLowerCase().includes(wanted),
    )
    .map(entryOf)
  const terms = sort_by ?? [{ field: 'last_call_at' as const, direction: 'desc' as const }]
  entries.sort((a, b) => {
    for (const { field, direction } of terms) {
      const order = compare(a[field], b[field])
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return compare(a.project_id, b.project_id)
  })
  const from = offset ?? 0
  const projects = entries.slice(from, from + Math.min(limit ?? 100, maxProjects))
  return { projects, total: entries.length }
}
