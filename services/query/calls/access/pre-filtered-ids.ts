// The access path by feedback and queues: the ids of the calls that have what a condition on them requires.

import type { ProjectId } from '../../../core/ids.ts'
import { param, sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { projectQuery } from '../../../events/project-query.ts'
import { readTuples } from '../../compact-rows.ts'
import { type FeedbackText, feedbackRows } from '../../feedback/call-texts.ts'
import { conditionsOf } from '../conditions/conditions.ts'
import { holdsWithout, preFilteredIdsSql, readsTraces } from '../conditions/derived-fields.ts'
import { isFeedback } from '../conditions/joins.ts'
import type { CompiledCondition } from '../conditions/types.ts'
import type { CallReader } from '../reader.ts'
import { everything, type Scope } from '../scope.ts'
import type { AccessPathOf } from './access-path.ts'

/** Calls with matching feedback are looked up by id if there are not more, out of not too much feedback. */
const maxIds = 10_000
const maxFeedbackRows = 50_000

export const preFilteredIdsQuery = (
  scope: Scope,
  fields: CallReader['query']['derivedFields'],
  conditions: CompiledCondition[],
): Query =>
  projectQuery(
    'calls.pre-filtered-ids',
    scope.projectId,
    (project) => sql`${preFilteredIdsSql(project, scope, fields, conditions)} LIMIT ${param('UInt64', maxIds + 1)}`,
  )

export const feedbackRowsQuery = (projectId: ProjectId, fields: readonly FeedbackText[]): Query =>
  projectQuery('calls.feedback-rows', projectId, (project) => feedbackRows(project, fields))

/** Ids of the calls that the conditions on feedback or on queues leave; null when they leave many, or there are none. */
async function readIds({ store, projectId, query, options }: CallReader): Promise<string[] | null> {
  const { preFilters } = conditionsOf(query)
  // Whole traces are known by keys of their own.
  const ofIds = preFilters.filter(({ derived }) => !readsTraces(derived))
  const requiring = ofIds.filter((condition) => !holdsWithout(condition))
  const ofQueues = requiring.filter(({ derived }) => derived.has('queues'))
  const conditions = ofQueues.length > 0 ? ofQueues : requiring
  if (conditions.length === 0) return null
  const read = <Row>(statement: Query) => readTuples<Row>(store, statement, options)
  if (ofQueues.length === 0) {
    const names = new Set(conditions.flatMap(({ derived }) => [...derived].filter(isFeedback)))
    const fields = query.derivedFields.feedback.filter(({ name }) => names.has(name))
    const [rows] = await read<[string]>(feedbackRowsQuery(projectId, fields))
    if (Number(rows?.[0]) > maxFeedbackRows) return null
  }
  const scope = { projectId, range: everything, index: null, keys: null }
  const ids = await read<[string]>(preFilteredIdsQuery(scope, query.derivedFields, conditions))
  return ids.length > maxIds ? null : ids.map(([id]) => id)
}

export const preFilteredIds: AccessPathOf = ({ reader, range }) => {
  let ids: string[] | null = null
  return {
    name: 'pre-filtered ids',
    async estimate() {
      ids = await readIds(reader)
      return ids === null ? null : ids.length
    },
    async *candidates() {
      if (!ids?.length) return
      const index = { column: 'id', values: ids } as const
      yield { scope: { projectId: reader.projectId, range, index, keys: null }, calls: Number.POSITIVE_INFINITY }
    },
  }
}
