// The feedback that was given to calls: what call records show under summary.weave.feedback.

import type { ProjectId } from '../../core/ids.ts'
import { join, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { asFewNumbers, asNumbers, readTuples } from '../compact-rows.ts'
import { feedbackOnRefs } from './condition.ts'
import { feedbackRowText, oldestFirst, shownMembers } from './select.ts'

/** Keys of an item, in their order; the user's field carries the prefix. */
const shown = (prefix: string): string[] => [
  'id',
  'feedback_type',
  'weave_ref',
  'payload',
  'creator',
  'created_at',
  `${prefix}_user_id`,
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'annotation_ref',
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
]

export const ofCallsQuery = (projectId: ProjectId, refs: readonly string[], columns: readonly Sql[]): Query =>
  projectQuery('feedback.of-calls', projectId, (project) => {
    const where = sql`${feedbackOnRefs(project, refs)} AND f.purged = 0`
    return sql`SELECT ${join([sql`f.weave_ref`, ...columns], ', ')} ${project.from('feedback', { alias: 'f', final: true, where })}
    ORDER BY ${oldestFirst} ${refs.length > 1 ? asFewNumbers : asNumbers}`
  })

/**
 * JSON arrays of feedback by call id, oldest first; calls without feedback are not in the map.
 * @throws StoreError `memory` when several calls have too much of it together
 */
export async function readFeedbackOfCalls(
  { store, options }: { store: Pick<Store, 'bytes'>; options: QueryOptions },
  projectId: ProjectId,
  ids: readonly string[],
  prefix: string,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const idOf = new Map(ids.map((id) => [`weave:///${projectId}/call/${id}`, id]))
  const members = shownMembers(shown(prefix), prefix)
  const columns = members.map((member) => member.sql)
  const query = ofCallsQuery(projectId, [...idOf.keys()], columns)
  const found = new Map<string, string[]>()
  for (const [ref, ...values] of await readTuples<[string, ...unknown[]]>(store, query, options)) {
    const id = idOf.get(ref) as string
    const own = found.get(id)
    const text = feedbackRowText(members, values)
    if (own) own.push(text)
    else found.set(id, [text])
  }
  return new Map([...found].map(([id, own]) => [id, `[${own.join(',')}]`]))
}
