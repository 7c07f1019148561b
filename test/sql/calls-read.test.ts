// The SQL of the read routes of calls as checked-in text, so that a review shows every change of it.
import { expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import {
  dirtyBucketsQuery,
  dirtyQuery,
  groupsQuery,
  liveHoursQuery,
  totalQuery,
} from '../../services/query/calls/access/counts.ts'
import { checkedQuery } from '../../services/query/calls/access/field-order.ts'
import { feedbackRowsQuery, preFilteredIdsQuery } from '../../services/query/calls/access/pre-filtered-ids.ts'
import { edgeQuery } from '../../services/query/calls/access/windows.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import { conditionsOf } from '../../services/query/calls/conditions/conditions.ts'
import type { Behind } from '../../services/query/calls/conditions/derived-fields.ts'
import {
  anyNonNativeQuery,
  nonNativeCallsQuery,
  nonNativePartsQuery,
} from '../../services/query/calls/conditions/non-native-json.ts'
import { refsQuery } from '../../services/query/calls/conditions/refine.ts'
import {
  boundaryQuery,
  deletedSinceQuery,
  descendantsQuery,
  parentsQuery,
  requestedQuery,
} from '../../services/query/calls/descendants.ts'
import { headerReader } from '../../services/query/calls/header.ts'
import { countQuery, headerKeysQuery, keysQuery, pageQuery, rowsQuery } from '../../services/query/calls/page.ts'
import { partsAtStartQuery, payloadQuery } from '../../services/query/calls/payloads.ts'
import { everything, indexOf, type Scope } from '../../services/query/calls/scope.ts'
import { totalSizeQuery, traceSizesQuery } from '../../services/query/calls/trace-sizes.ts'
import {
  changedThreadsQuery,
  finishedThreadsQuery,
  latestThreadsQuery,
  sortColumns,
  type ThreadsPage,
  threadsQuery,
} from '../../services/query/threads/routes.ts'
import { feedbackCountsQuery } from '../../services/query/trace-tree/load.ts'
import { spanKindsQuery } from '../../services/query/trace-tree/span-kinds.ts'
import { callHeader } from '../fixtures/call-header.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = 'ent/proj' as ProjectId
const field = (name: string) => ({ $getField: name })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), { $literal: value }] })
const compile = (request: object) => compileCallsQuery({ projectId, ...request })
const scope = (more: Partial<Scope> = {}): Scope => ({ projectId, range: everything, index: null, keys: null, ...more })
const traces = {
  traceIds: ['t', 'u'],
  fromUs: 1_000_000,
  after: ['t', '2000000'] as const,
  upTo: ['u', '3000000'] as const,
}
const window = { fromUs: 1_000_000, beforeUs: 2_000_000 }
const { select } = headerReader(new Set(['parent_id']), true)
const newest = { select, order: { startedAt: 'desc', id: 'desc' }, after: null, limit: 50, offset: 0 } as const
const row = (id: string, startedUs: number, outputUs: number) => callHeader({ id, startedUs, outputUs })

const roots = compile({ filter: { trace_roots_only: true } })
const trace = compile({ filter: { trace_ids: ['t'] } })
const input = compile({ filter: { op_names: ['op'] }, query: { $expr: eq('inputs.a', 'x') } })
const output = compile({ query: { $expr: eq('output', '') } })
const mixed = compile({ query: { $expr: { $or: [eq('inputs.a', 'x'), eq('output.b', 'y')] } } })
const column = compile({ query: { $expr: { $or: [eq('op_name', 'x'), eq('inputs.b', 'y')] } } })
const sorted = compile({ sort_by: [{ field: 'output.score', direction: 'desc' }] })
const through = compile({
  query: { $expr: { $or: [eq('inputs.m.n', 'x'), eq('feedback.[x].payload.n', 5)] } },
  sort_by: [{ field: 'inputs.m.n', direction: 'desc' }],
  expand_columns: ['inputs.m'],
})
const behind: Behind = new Map([['ref_0', { refs: ['weave:///e/p/object/m:1'], documents: ['"x"'] }]])
const throughRefs = { ...conditionsOf(through), derived: { fields: through.derivedFields, behind } }
const noted = compile({
  query: {
    $expr: { $and: [eq('feedback.[wandb.note.1].payload.note', 'x'), { $not: [eq('feedback.[*].payload', 'y')] }] },
  },
})
const queued = compile({ query: { $expr: eq('annotation_queue_items.queue_id', 'q') } })
const nonNative = { start: ['5'], end: ['6'], calls: { startedUs: [7], ids: ['id'] } }

const threadsPage: ThreadsPage = {
  projectId,
  afterUs: 1,
  beforeUs: 2,
  threadIds: ['a'],
  sort: [{ column: sortColumns.get('p50_turn_duration_ms') ?? expect.unreachable(), direction: 'asc' }],
  limit: 5,
  offset: 1,
}

const queries: Record<string, Query> = {
  'newest roots': pageQuery('calls.page', scope({ range: window }), conditionsOf(roots), newest),
  'the page after a key': pageQuery('calls.page', scope({ range: window }), conditionsOf(roots), {
    ...newest,
    after: { startedUs: 1_500_000, id: 'last' },
    offset: 3,
  }),
  'a trace': pageQuery('calls.page', scope({ index: indexOf(trace.facts) }), conditionsOf(trace), newest),
  'an input of an operation': pageQuery('calls.page', scope({ range: window }), conditionsOf(input), newest),
  'an output that running calls match too': countQuery(scope({ range: window }), conditionsOf(output), null),
  'an input or an output': countQuery(scope({ range: window }), conditionsOf(mixed), 10),
  'a column or an input, with non-native JSON': countQuery(scope(), { ...conditionsOf(column), nonNative }, null),
  'an input, with non-native JSON': countQuery(scope(), { ...conditionsOf(input), nonNative }, null),
  'behind a ref, or in feedback': countQuery(scope({ range: window }), throughRefs, null),
  'sorted by what is behind a ref': keysQuery(scope(), throughRefs, through.sort, { limit: 10, offset: 0 }),
  'refs of calls': refsQuery(scope({ range: window }), conditionsOf(roots), [
    { ref: { document: 'inputs', path: ['m'] } },
    { ref: { document: 'output', path: [] } },
  ]),
  'with feedback': countQuery(scope({ range: window }), conditionsOf(noted), null),
  'calls with feedback': preFilteredIdsQuery(scope(), noted.derivedFields, conditionsOf(noted).preFilters.slice(0, 1)),
  'rows of such feedback': feedbackRowsQuery(projectId, noted.derivedFields.feedback),
  'in a queue, one of the calls': countQuery(scope({ keys: [{ startedUs: 1, id: 'a' }] }), conditionsOf(queued), null),
  'parts with non-native JSON': nonNativePartsQuery(scope({ range: window }), conditionsOf(input), 'start'),
  'calls with non-native JSON': nonNativeCallsQuery(scope({ range: window }), conditionsOf(column)),
  'any non-native JSON': anyNonNativeQuery(projectId, window),
  'few keys by columns': headerKeysQuery(scope({ range: window }), conditionsOf(input), 1_001),
  'sorted by an output, within a bound': checkedQuery(scope(), conditionsOf(roots), sorted.sort, {
    kind: 'number',
    value: 0.5,
    id: 'a',
  }),
  'sorted by an output': keysQuery(scope(), conditionsOf(roots), sorted.sort, { limit: null, offset: 0 }),
  'rows by key': rowsQuery(projectId, [{ startedUs: 1, id: 'a' }], select),
  'payloads, scattered': payloadQuery(projectId, [row('a', 1, 2)], ['inputs', 'output'], 'scattered'),
  'payloads, dense': payloadQuery(projectId, Array(65).fill(row('a', 1, 1)), ['inputs'], 'dense'),
  'payloads at the start of a call': partsAtStartQuery(projectId, { column: 'id', values: ['a'] }, [
    'inputs',
    'output',
  ]),
  'trace sizes': traceSizesQuery(projectId, ['t']),
  'kinds of the spans of a trace': spanKindsQuery(projectId, { column: 'trace_id', values: ['t'] }),
  'feedback of the spans of a trace': feedbackCountsQuery(projectId, { column: 'trace_id', values: ['t'] }),
  'total size': totalSizeQuery(scope(), conditionsOf(roots), 10),
  'groups of hours': groupsQuery(projectId, {
    per: 'hour',
    counter: 'roots',
    direction: 'desc',
    size: 50,
    range: everything,
    live: null,
  }),
  'groups of hours, some counted live': groupsQuery(projectId, {
    per: 'hour',
    counter: 'calls',
    direction: 'asc',
    size: 2_000,
    range: everything,
    live: { hours: [3_600], calls: [5], roots: [1] },
  }),
  'groups of minutes': groupsQuery(projectId, {
    per: 'minute',
    counter: 'calls',
    direction: 'asc',
    size: 50,
    range: window,
    live: null,
  }),
  'where the newest roots end': edgeQuery(projectId, {
    range: everything,
    direction: 'desc',
    counter: 'roots',
    calls: 50,
  }),
  'where the first calls of a window end': edgeQuery(projectId, {
    range: window,
    direction: 'asc',
    counter: 'calls',
    calls: 50,
  }),
  'minutes that lag': dirtyQuery(projectId),
  'hours counted live': liveHoursQuery(projectId, [
    { minute: 3_600, seconds: '0' },
    { minute: 3_660, seconds: '5' },
  ]),
  'all other hours': totalQuery(projectId, [3_600]),
  'whether counters lag': dirtyBucketsQuery(projectId, [{ partition: 0, position: '7' }]),
  'whether counters of two partitions lag': dirtyBucketsQuery(projectId, [
    { partition: 0, position: '7' },
    { partition: 1, position: '3' },
  ]),
  threads: threadsQuery(threadsPage),
  'threads, a turn changed': finishedThreadsQuery(threadsPage),
  'the latest threads': latestThreadsQuery(threadsPage, 9),
  'whether a turn changed': changedThreadsQuery(threadsPage),
  'calls to delete': requestedQuery(projectId, ['a']),
  'those of them with calls below': parentsQuery(projectId, ['a']),
  'where a batch of their traces ends': boundaryQuery(projectId, { ...traces, upTo: null }, 5_000),
  'a batch of their traces': descendantsQuery(projectId, traces),
  'the last batch of their traces': descendantsQuery(projectId, { ...traces, after: null, upTo: null }),
  'those deleted meanwhile': deletedSinceQuery(projectId, ['a'], 7n),
}

it('the SQL of call queries is as checked in', () => expectReviewed('./calls-read.sql', queries))
