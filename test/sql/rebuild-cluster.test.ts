// The definitions of a rebuild on one server and in a cluster: checked in as a sample, and SQL that the engine reads.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Query, Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createShadowTables, type SharedServer } from '../../services/operations/rebuild/shadow-tables.ts'
import { createStateTable } from '../../services/operations/rebuild/state.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const views = [
  { name: 'calls_in_to_calls', target: 'calls', source: 'calls_in', select: 'SELECT id FROM callhouse.calls_in' },
  { name: 'calls_to_keys', target: 'call_keys', source: 'calls', select: 'SELECT id FROM callhouse.calls' },
  { name: 'calls_to_turns', target: 'turns', source: 'calls', select: 'SELECT id FROM callhouse.calls' },
]

/** Every statement of a rebuild that is no insert, in order; `left` are tables of an earlier one. */
async function statementsOf(server: SharedServer): Promise<string[]> {
  const statements: string[] = []
  const recorded = ({ sql }: Query): void => {
    if (!/^INSERT/.test(sql)) statements.push(sql.replace(/\s+/g, ' '))
  }
  const recording: Store = {
    ...store,
    command: async (query) => recorded(query),
    async rows<T>(query: Query) {
      if (query.name === 'rebuild.inserting') recorded(query)
      return (query.name === 'rebuild.left' ? [{ name: 'calls_mirror' }, { name: 'calls' }] : []) as T[]
    },
  }
  const state = createStateTable(recording, server)
  await state.claim()
  const plan = { tables: ['calls', 'payloads'], helpers: ['call_keys'], scratch: ['calls_batch'], sinks: ['turns'] }
  const shadow = createShadowTables(recording, { ...plan, topic: topics.calls }, server)
  await shadow.create(views)
  await shadow.mirror('calls')
  await shadow.awaitOlderInserts(new AbortController().signal)
  await shadow.exchange()
  await shadow.drop()
  await state.clear()
  return statements
}

test('definitions of a rebuild on a server and in a cluster are as checked in', async () => {
  const one = await statementsOf({ database: 'other' })
  const many = await statementsOf({ database: 'callhouse', cluster: 'main' })
  const text = (title: string, statements: string[]) => `-- ${title}\n${statements.map((sql) => `${sql};\n`).join('')}`
  await expect(`${text('one server', one)}\n${text('a cluster', many)}`).toMatchFileSnapshot('rebuild-cluster.sql')
  for (const sql of many) expect(sql).toMatch(/ ON CLUSTER main|clusterAllReplicas\(main,/)
  for (const sql of [...one, ...many]) {
    const query = { name: 'format', sql: 'SELECT formatQuery({sql:String}) AS text', params: { sql } }
    expect(await store.rows(query)).toEqual([{ text: expect.stringMatching(/\S/) }])
  }
})
