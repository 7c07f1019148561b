// The texts that call queries read from annotation queues: the live queues that a call is in.
import { type Sql, sql } from '../../../core/store/sql.ts'
import type { ProjectScope } from '../../../events/project-query.ts'

/**
 * SELECT of `call_id` and `queues`, a JSON list of queue ids, for calls that are in one.
 * @param calls subquery of the ids to look at, a superset; null = all
 */
export function queueTexts(project: ProjectScope, calls: Sql | null): Sql {
  const live = sql`SELECT queue_id ${project.from('annotation_queues', { where: sql`part IN ('created', 'deleted')` })}
    GROUP BY queue_id HAVING countIf(part = 'created') > 0 AND countIf(part = 'deleted') = 0`
  const among = calls ? sql` AND call_id IN (SELECT id FROM ${calls})` : sql``
  // A call that was added twice is once in the set.
  return sql`SELECT call_id, toJSONString(arraySort(groupUniqArray(queue_id))) AS queues
    ${project.from('annotation_queue_items', { where: sql`queue_id IN (${live})${among}` })} GROUP BY call_id`
}
