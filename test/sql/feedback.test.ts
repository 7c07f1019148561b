// The SQL of the feedback routes as checked-in text, so that a review shows every change of it.
import { it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import { feedbackCondition } from '../../services/query/feedback/condition.ts'
import { ofCallsQuery } from '../../services/query/feedback/of-calls.ts'
import { feedbackOrder, shownMembers } from '../../services/query/feedback/select.ts'
import {
  feedbackCountQuery,
  feedbackItemsQuery,
  feedbackKeysQuery,
  feedbackPageQuery,
  presentQuery,
} from '../../services/query/feedback/statements.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = 'ent/proj' as ProjectId
const field = (name: string) => ({ $getField: name })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), { $literal: value }] })
const where = (expression?: object) => feedbackCondition(expression && { $expr: expression }, projectId)
const members = shownMembers(['id', 'payload.list.0', 'scorer_ratings.a', 'created_at'], 'platform')

const queries: Record<string, Query> = {
  'every row': feedbackPageQuery(projectId, where(), {
    members: shownMembers(undefined, 'platform'),
    order: feedbackOrder(null),
    limit: null,
    offset: 0,
  }),
  'reactions to a call, sorted by a part of the payload': feedbackPageQuery(
    projectId,
    where({ $and: [eq('weave_ref', 'weave:///e/p/call/1'), eq('payload.emoji', '👍')] }),
    { members, order: feedbackOrder([{ field: 'payload.n', direction: 'desc' }]), limit: 10, offset: 5 },
  ),
  'keys of rows': feedbackKeysQuery(projectId, where(eq('creator', 'Ann')), {
    order: feedbackOrder(null),
    limit: 100,
    offset: 200,
  }),
  'rows by their keys': feedbackItemsQuery(projectId, ['a', 'b'], members),
  'number of rows': feedbackCountQuery(
    projectId,
    where({ $or: [eq('scorer_ratings.a', 0.5), { $not: [eq('creator', 'Ann')] }] }),
  ),
  'ids that are there': presentQuery(projectId, ['a', 'b']),
  'feedback of calls': ofCallsQuery(
    projectId,
    ['weave:///e/p/call/1', 'weave:///e/p/call/2'],
    members.map((member) => member.sql),
  ),
}

it('the SQL of feedback is as checked in', () => expectReviewed('./feedback.sql', queries))
