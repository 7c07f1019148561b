// What services/tables declares is what the migrations make: no table, column, key or view more or less.
// again: kafka
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

/** On a server these are dropped a day later. */
const migrations = fileURLToPath(new URL('../../clickhouse/migrations/', import.meta.url))
const removed = readdirSync(migrations)
  .map((file) => readFileSync(join(migrations, file), 'utf8'))
  .flatMap((text) => [...text.matchAll(/^DROP (?:TABLE|VIEW) IF EXISTS callhouse\.(\w+)/gm)].map(([, name]) => name))

const rows = async <Row extends { name: string }>(sql: string): Promise<Row[]> => {
  const found = await store.rows<Row>({ name: 'test', sql: `${sql} AND position(name, '_w_') = 0`, params: {} })
  return found.filter(({ name }) => !removed.includes(name))
}

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
})

it.each(tables)('what is said of the rows of $name names its columns', (table) => {
  const { engine, hidden, purged, erased, rollup } = table
  const columns = tableColumns(table).map(([column]) => column)
  const aged = [hidden, purged === 'aside' ? undefined : purged].flatMap((one) => (one ? [one.by] : []))
  const { call = [], ref = [], record = [], values = [] }: Partial<Record<string, unknown>> = erased ?? {}
  expect(columns).toEqual(expect.arrayContaining([...aged, ...[call, ref, record, values].flat()]))
  expect(engine === 'Memory').toBe(table.kind === 'scratch')
  if (table.kind !== 'scratch') expect(engine.includes('ORDER BY (project_id, ')).toBe(columns.includes('project_id'))
  if (rollup) expect(tables.map((one) => one.name)).toContain(rollup)
})
