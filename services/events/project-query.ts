// Queries on tables whose rows belong to projects: which tables these are, and the way to read them.
import type { ProjectId } from '../core/ids.ts'
import { runningCutoffs } from '../core/process/running-handler.ts'
import { param, queryOfProject, type ScopeOf, type Sql, sql } from '../core/store/sql.ts'
import type { Query } from '../core/store/store.ts'
import { type ProjectTable, type TimeKind, tables, timeKindOf } from '../tables/registry.ts'

export type ProjectScope = ScopeOf<ProjectTable>

const instantOf: Record<TimeKind, (us: number) => Sql> = {
  micros: (us) => param('Int64', us),
  time64: (us) => sql`fromUnixTimestamp64Micro(${param('Int64', us)}, 'UTC')`,
  time: (us) => sql`toDateTime(${param('Int64', us / 1e6)}, 'UTC')`,
}

/** By which time rows of a table are too old to be seen (services/core/directory/retention.ts). */
const hidden = new Map(
  tables.flatMap((table) => {
    if (!table.hidden) return []
    const { by, of } = table.hidden
    return [[table.name, { by, cutoff: `${of}Us` as const, instant: instantOf[timeKindOf(table, by)] }]]
  }),
)

/** A query on project tables. Each table comes from the scope, which puts the project first, and hides what is too old. */
export function projectQuery(name: string, projectId: ProjectId, build: (project: ProjectScope) => Sql): Query {
  const cutoffs = runningCutoffs(projectId)
  if (cutoffs === undefined) return queryOfProject<ProjectTable>(name, projectId, build)
  return queryOfProject<ProjectTable>(name, projectId, build, (table, column) => {
    const aged = hidden.get(table)
    const us = aged && cutoffs[aged.cutoff]
    return aged && us !== undefined ? sql`${column(aged.by)} >= ${aged.instant(us)}` : undefined
  })
}
