// The tables beside those of calls that a call query may read, and the topics that they are filled from.
import type { TopicName } from '../../../events/registry.ts'
import type { CompiledCallsQuery } from './types.ts'

/** Tables that answer a query on calls alone. */
export const callQueryTables = [
  'calls',
  'call_keys',
  'payloads',
  'payload_leaves',
  'call_marks',
  'rollups',
  'call_counts_hourly',
]
/** Tables of feedback, of queues, and of calls that stand for roots. */
export const joinedTables = [
  'feedback',
  'feedback_by_ref',
  'annotation_queues',
  'annotation_queue_items',
  'orphan_roots',
]

/** Tables of what whole traces come to. */
export const traceTables = ['trace_parts', 'usage_shares', 'costs']

/** Tables behind refs. */
export const referredTables = ['objects', 'object_events', 'table_lists', 'table_rows']

/** Topics of the matches of a query and their order; the answer must not be older than them. */
export function topicsOfQuery({ derivedFields }: Pick<CompiledCallsQuery, 'derivedFields'>): TopicName[] {
  const topics: TopicName[] = ['calls']
  if (derivedFields.feedback.length > 0) topics.push('feedback')
  if (derivedFields.queues) topics.push('annotation_queues')
  if (derivedFields.refs.length > 0) topics.push('objects', 'tables')
  if (derivedFields.traces.columns.has('trace_cost')) topics.push('costs')
  return topics
}
