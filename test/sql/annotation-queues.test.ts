// The SQL of the annotation queue routes as checked-in text, so that a review shows every change of it.
import { expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { param, sql } from '../../services/core/store/sql.ts'
import type { Query } from '../../services/core/store/store.ts'
import { queueableQuery, queuedQuery } from '../../services/query/annotation-queues/add.ts'
import {
  countsQuery,
  itemQuery,
  itemsList,
  itemsOrder,
  itemsQuery,
} from '../../services/query/annotation-queues/items.ts'
import { progressQuery } from '../../services/query/annotation-queues/progress.ts'
import { queuesQuery } from '../../services/query/annotation-queues/read.ts'

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
  'one item': itemQuery(queue, 'i'),
  'progress on an item': progressQuery(projectId, 'q', 'c'),
  'calls to be added': queueableQuery(projectId, ['a', 'b']),
  'calls that are there': queuedQuery(projectId, 'q', ['a', 'b']),
  'counts of queues': countsQuery(projectId, ['q', 'r']),
}

it('the SQL of annotation queues is as checked in', async () => {
  const text = Object.entries(queries).map(
    ([title, { name, sql, params }]) => `-- ${title} (${name})\n${sql}\n-- ${JSON.stringify(params)}\n`,
  )
  await expect(text.join('\n')).toMatchFileSnapshot('./annotation-queues.sql')
})
