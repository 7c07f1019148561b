// Batches of calls that ask for log records of their spans: those with spans of projects that have some, by every way
// through the merge, and no others, which pay nothing.
import { afterAll, beforeEach, expect, it } from 'vitest'
import type { Batch } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import type { CallFragment } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { joinedEventNames } from '../../services/events/gen-ai-events.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallMaterializer, lookupRows } from '../../services/worker/calls/merge-fragments.ts'
import { baseUs, complete, end, rename, start } from '../fixtures/call-world.ts'
import { createTestStore } from '../fixtures/store.ts'

const joined = 'join/with'
const { store, remove } = await createTestStore()
afterAll(() => remove())

let known: string[] | null = []
let evaluated: string[] | null = null
let told = 0
let named: string[] = []
const watched: Store = {
  ...store,
  command(query, options) {
    named.push(query.name)
    return store.command(query, options)
  },
}
const materializer = createCallMaterializer(watched, {
  projects: () => known,
  evaluated: () => evaluated,
  turned: () => evaluated,
  onSpans: () => void told++,
  isJoined: () => false,
})
const run = (sql: string) => store.command({ name: 'test', sql, params: {} })

let offset = 0
/** Applies parts as one batch, as the worker does. */
async function apply(parts: CallFragment[], isJoined = false): Promise<void> {
  const writer = createCallWriter()
  for (const part of parts) writer.add(part)
  const records = writer.take()
  const sum = (of: 'rowCount' | 'patchCount') => records.reduce((all, record) => all + record[of], 0)
  offset++
  const batch = {
    topic: 'calls',
    partition: 0,
    firstOffset: offset,
    lastOffset: offset,
    rowCount: sum('rowCount'),
    patchCount: sum('patchCount'),
  } as Batch
  await materializer.beforeInsert(batch)
  await store.insert(topics.calls, { bytes: records.map(({ rows }) => rows) })
  await materializer.afterInsert(batch, false, isJoined)
}
/** Spans that are due, whose records came first. */
const due = async (): Promise<string[]> => {
  const rows = await store.rows<{ span_id: string }>({
    name: 'test',
    sql: 'SELECT DISTINCT span_id FROM callhouse.log_joins ORDER BY span_id',
    params: {},
  })
  return rows.map(({ span_id: id }) => id)
}
const asked = () => named.filter((name) => name === 'log-joins-again').length
const idOf = (n: number) => n.toString(16).padStart(16, 'e')
const span = (n: number, projectId: string) => complete(idOf(n), { projectId, traceId: 'trace' })

beforeEach(async () => {
  known = [joined]
  evaluated = [joined]
  told = 0
  named = []
  await run('TRUNCATE TABLE callhouse.logs_by_span')
  // Records that came before their spans: of each span one, in both projects.
  const ids = Array.from({ length: 100 }, (_, n) => `'${idOf(n)}'`)
  await run(`INSERT INTO callhouse.logs_by_span (project_id, trace_id, span_id, at, id, event_name)
    SELECT project, 'trace', id, fromUnixTimestamp64Micro(toInt64(${baseUs})), id, '${joinedEventNames[0]}'
    FROM (SELECT arrayJoin([${ids}]) AS id) ARRAY JOIN ['${joined}', 'join/without'] AS project`)
  await run('TRUNCATE TABLE callhouse.log_joins')
})

it('a span of a project with records is due', async () => {
  await apply([span(1, joined), span(2, 'join/without')])
  expect([told, asked(), await due()]).toEqual([1, 1, [idOf(1)]])
})

it('a span of a project with records is due beside a part of another call that has to be merged', async () => {
  await apply([start(idOf(10), { projectId: joined })])
  told = 0
  named = []
  await apply([span(11, joined), rename(idOf(90), 'renamed'), end(idOf(10), { projectId: joined })])
  expect([told, asked(), await due()]).toEqual([1, 1, [idOf(11)]])
})

it('a span of a project with records is due when it was stored before', async () => {
  await apply([span(20, joined)])
  await run('TRUNCATE TABLE callhouse.log_joins')
  await apply([span(20, joined)])
  expect([told, asked(), await due()]).toEqual([2, 2, [idOf(20)]])
})

it('a span of a project with records is due in a batch whose rows are not looked up', async () => {
  const many = Array.from({ length: lookupRows }, (_, n) => span(1_000 + n, 'join/without'))
  await apply([span(30, joined), ...many])
  expect([told, asked(), await due()]).toEqual([1, 1, [idOf(30)]])
})

it('a span whose records are in its row is not due; evaluations that name its response may be', async () => {
  await apply([span(60, joined)], true)
  expect([told, asked(), named.filter((name) => name === 'log-joins-again-responses')]).toEqual([
    1,
    0,
    ['log-joins-again-responses'],
  ])
  evaluated = []
  await apply([span(61, joined)], true)
  expect([told, asked(), await due()]).toEqual([1, 0, []])
})

it('any span is due while nobody knows which projects have records', async () => {
  known = null
  evaluated = null
  await apply([span(50, joined)])
  expect([told, asked(), await due()]).toEqual([1, 1, [idOf(50)]])
})

it.each<[string, () => CallFragment[], string[]]>([
  ['spans of other projects', () => [span(40, 'join/without')], [joined]],
  ['spans while no project has records', () => [span(42, joined)], []],
  ['spans of other projects with parts', () => [span(43, 'join/without'), rename(idOf(40), 'renamed')], []],
])('no log records are asked for because of %s', async (_, parts, projects) => {
  known = projects
  evaluated = projects
  await apply(parts())
  expect([told, asked(), await due()]).toEqual([0, 0, []])
})
