// Queries on tables whose rows belong to projects: which tables these are, and the way to read them.
import type { ProjectId } from '../core/ids.ts'
import { type Cutoffs, runningCutoffs } from '../core/process/running-handler.ts'
import { param, queryOfProject, type ScopeOf, type Sql, sql } from '../core/store/sql.ts'
import type { Query } from '../core/store/store.ts'

type ProjectTable =
  | 'calls'
  | 'payloads'
  | 'call_keys'
  | 'calls_deleted'
  | 'turns'
  | 'call_counts'
  | 'call_counts_hourly'
  | 'call_marks'
  | 'call_stats'
  | 'trace_parts'
  | 'usage_shares'
  | 'orphan_roots'
  | 'objects'
  | 'object_events'
  | 'object_labels'
  | 'files'
  | 'feedback'
  | 'feedback_by_ref'
  | 'costs'
  | 'table_rows'
  | 'table_lists'
  | 'payload_leaves'
  | 'annotation_queues'
  | 'annotation_queue_items'
  | 'annotation_queue_progress'
  | 'training_jobs'
  | 'logs'
  | 'logs_by_span'
  | 'logs_deleted'
  | 'usage_minutes'
  | 'erasures'

export type ProjectScope = ScopeOf<ProjectTable>

type Aged = { column: string; cutoff: Exclude<keyof Cutoffs, 'isRemoved'>; is: 'micros' | 'time64' | 'time' }

/**
 * By which time rows of a table are too old to be seen (services/core/directory/retention.ts). What is looked up by rows
 * that were seen is not listed, nor what is not about calls.
 */
const ages: Partial<Record<ProjectTable, Aged>> = {
  calls: { column: 'started_at', cutoff: 'callsUs', is: 'time64' },
  call_keys: { column: 'started_at', cutoff: 'callsUs', is: 'time64' },
  turns: { column: 'started_at', cutoff: 'callsUs', is: 'time64' },
  call_counts: { column: 'minute', cutoff: 'callsUs', is: 'time' },
  call_counts_hourly: { column: 'hour', cutoff: 'callsUs', is: 'time' },
  call_marks: { column: 'minute', cutoff: 'callsUs', is: 'time' },
  call_stats: { column: 'bucket', cutoff: 'statsUs', is: 'time' },
  trace_parts: { column: 'bucket', cutoff: 'callsUs', is: 'time' },
  usage_shares: { column: 'started_at', cutoff: 'callsUs', is: 'time64' },
  orphan_roots: { column: 'started_at', cutoff: 'callsUs', is: 'time64' },
  payloads: { column: 'at', cutoff: 'payloadsUs', is: 'time64' },
  // A row holds values of one hour, and a cutoff is a whole hour.
  payload_leaves: { column: 'least', cutoff: 'valuesUs', is: 'micros' },
  logs: { column: 'at', cutoff: 'logsUs', is: 'time64' },
  logs_by_span: { column: 'at', cutoff: 'logsUs', is: 'time64' },
}

const instantOf: Record<Aged['is'], (us: number) => Sql> = {
  micros: (us) => param('Int64', us),
  time64: (us) => sql`fromUnixTimestamp64Micro(${param('Int64', us)}, 'UTC')`,
  time: (us) => sql`toDateTime(${param('Int64', us / 1e6)}, 'UTC')`,
}

/** A query on project tables. Each table comes from the scope, which puts the project first, and hides what is too old. */
export function projectQuery(name: string, projectId: ProjectId, build: (project: ProjectScope) => Sql): Query {
  const cutoffs = runningCutoffs(projectId)
  if (cutoffs === undefined) return queryOfProject<ProjectTable>(name, projectId, build)
  return queryOfProject<ProjectTable>(name, projectId, build, (table, column) => {
    const aged = ages[table]
    const us = aged && cutoffs[aged.cutoff]
    return aged && us !== undefined ? sql`${column(aged.column)} >= ${instantOf[aged.is](us)}` : undefined
  })
}
