// Queries on tables whose rows belong to projects: which tables these are, and the way to read them.
import { queryOfProject, type ScopeOf } from '../core/store/sql.ts'

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
  | 'usage_minutes'

export type ProjectScope = ScopeOf<ProjectTable>

/** A query on project tables. Each table comes from the scope, which puts the project first. */
export const projectQuery = queryOfProject<ProjectTable>
