// The SQL of the annotation queue routes as checked-in text, so that a review shows every change of it.
import { it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { param, sql } from '../../services/core/store/sql.ts'
import type { Query } from '../../services/core/store/store.ts'
import { queueableQuery, queuedQuery } from '../../services/query/annotation-queues/add.ts'
import {
  itemCountsQuery,
  itemQuery,
  itemsList,
  itemsOrder,
  itemsQuery,
} from '../../services/query/annotation-queues/items.ts'
import { progressQuery } from '../../services/query/annotation-queues/progress.ts'
import { liveQuery, queuesQuery } from '../../services/query/annotation-queues/read.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = 'ent/proj' as ProjectId
const queue = { projectId, queueId: 'q' }

const queries: Record<string, Query> = {
  'one queue': queuesQuery(projectId, {
    where: sql`queue_id = ${param('String', 'q')}`,
    having: sql`1`,
    order: sql`id`,
    limit: 1,
    offset: 0,
  }),
  'items of a queue': itemsQuery(queue, {
    filter: {},
    order: itemsOrder(undefined),
    limit: 50,
    offset: 0,
    includePosition: false,
  }),
  'unstarted items with their positions': itemsQuery(queue, {
    filter: { call_op_name: 'op', annotation_states: ['unstarted'] },
    order: itemsOrder([{ field: 'call_started_at', direction: 'desc' }]),
    limit: null,
    offset: 10,
    includePosition: true,
  }),
  'keys of unstarted items with their positions': itemsList(queue, {
    filter: { annotation_states: ['unstarted'] },
    order: itemsOrder(undefined),
    limit: null,
    offset: 0,
    includePosition: true,
  }).keys({ limit: 100, offset: 200 }),
  'items by their keys': itemsList(queue, {
    filter: {},
    order: itemsOrder(undefined),
    limit: null,
    offset: 0,
    includePosition: true,
  }).of(['a', 'b']),
  'whether there is a queue': liveQuery(projectId, 'q'),
  'one item': itemQuery(queue, 'i'),
  'progress on an item': progressQuery(projectId, 'q', 'c'),
  'calls to be added': queueableQuery(projectId, ['a', 'b']),
  'calls that are there': queuedQuery(projectId, 'q', ['a', 'b']),
  'counts of queues': itemCountsQuery(projectId, ['q', 'r']),
}

it('the SQL of annotation queues is as checked in', () => expectReviewed('./annotation-queues.sql', queries))
