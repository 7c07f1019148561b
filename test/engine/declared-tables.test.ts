// What services/tables declares is what the migrations make: no table, column, key or view more or less.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { landingsOf } from '../../services/core/log/topic.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { tableColumns, tables, tableViews } from '../../services/tables/registry.ts'
import { usesServer } from '../fixtures/setup.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const landings = Object.values(topics).flatMap(landingsOf)
/** On a server each worker has its own of the others. */
const shared = tables.filter(({ kind }) => !usesServer || kind !== 'scratch')
const isShared = (name: string) => shared.some((table) => table.name === name)
const one = (text: string) => text.replace(/\s+/g, ' ')

const rows = <Row>(sql: string) =>
  store.rows<Row>({ name: 'test', sql: `${sql} AND position(name, '_w_') = 0`, params: {} })

it('tables, with their engines and keys', async () => {
  const found = await rows<{ name: string; full: string }>(
    `SELECT name, replaceAll(splitByString(' SETTINGS ', engine_full)[1], char(96), '') AS full
      FROM system.tables WHERE database = currentDatabase() AND engine != 'MaterializedView'`,
  )
  const declared = [
    ...shared.map(({ name, engine }) => [name, engine]),
    ...landings.map((name) => [name, 'Null']),
  ] as const
  expect(Object.fromEntries(found.map(({ name, full }) => [name, full]))).toEqual(Object.fromEntries(declared))
})

it.each(shared.map((table) => [table.name, table] as const))('columns of %s', async (name, table) => {
  const found = await rows<{ name: string; type: string }>(
    `SELECT name, trim(concat(type, ' ', default_kind)) AS type
      FROM system.columns WHERE database = currentDatabase() AND table = '${name}'`,
  )
  const declared = tableColumns(table).map(([name, type]) => ({ name, type: one(type) }))
  expect(found).toEqual(declared)
})

it('views, with what they read and fill', async () => {
  const found = await rows<{ name: string; source: string; target: string }>(
    `SELECT name, extract(as_select, 'FROM \\\\w+\\\\.(\\\\w+)') AS source,
        extract(create_table_query, ' TO \\\\w+\\\\.(\\\\w+)') AS target
      FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'`,
  )
  const byName = <T extends { name: string }>(all: readonly T[]) => all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  expect(byName(found)).toEqual(byName(tableViews.filter(({ target }) => isShared(target))))
  const sources = new Set([...landings, 'calls'])
  for (const { name, source } of tableViews) expect(sources, name).toContain(source)
})
