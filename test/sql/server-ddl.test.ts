// The migrations in the form of a server and of a cluster: each rule on a sample that is checked in, and all that are shipped.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scratchStatements, serverStatements, spreadTables } from '../../services/core/store/server/ddl.ts'
import { createServerNames, ownerSuffix, suffixOf } from '../../services/core/store/server/names.ts'
import { splitStatements } from '../../services/core/store/sql-text.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { scratchTables } from '../../services/tables/registry.ts'
import { createTestStore } from '../fixtures/store.ts'

const folder = new URL('../../clickhouse/migrations/', import.meta.url)
const shipped = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
const landings = Object.values(topics).map((topic) => topic.landing)
const scratch = scratchTables
const suffix = '_w_a_00000000'

const sample = `CREATE TABLE IF NOT EXISTS callhouse.things_in (_record String, n UInt64) ENGINE = Null;
CREATE TABLE IF NOT EXISTS callhouse.things (n UInt64, v UInt64, t String DEFAULT 'callhouse.things; ENGINE = MergeTree')
ENGINE = ReplacingMergeTree(v) ORDER BY n SETTINGS fsync_after_insert = 1;
CREATE TABLE IF NOT EXISTS callhouse.plain (n UInt64) ENGINE = ReplacingMergeTree ORDER BY n;
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.things_in_to_things TO callhouse.things AS SELECT n FROM callhouse.things_in;
ALTER TABLE callhouse.things_in ADD COLUMN IF NOT EXISTS m UInt64;
ALTER TABLE callhouse.things ADD COLUMN IF NOT EXISTS m Map(String, UInt64) DEFAULT map('a,b', 1) CODEC(Delta(8), ZSTD(1)), MODIFY ORDER BY (n, v);
ALTER TABLE callhouse.things MODIFY COLUMN t String CODEC(ZSTD(1, 23)) SETTINGS (max_compress_block_size = 8388608);
ALTER TABLE callhouse.things ADD INDEX IF NOT EXISTS i n TYPE minmax;
INSERT INTO callhouse.things (n) SELECT n FROM callhouse.plain;
CREATE TABLE IF NOT EXISTS callhouse.calls_touched (id String) ENGINE = Memory;
ALTER TABLE callhouse.calls_folded ADD COLUMN IF NOT EXISTS x UInt8;
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_batch TO callhouse.calls_batch AS SELECT id FROM callhouse.calls_in;`

const text = (title: string, statements: string[]): string =>
  `-- ${title}\n${statements.map((statement) => `${statement};\n`).join('')}`

test('definitions for a server and a cluster are as checked in, for every kind of statement', async () => {
  const all = (shape: Parameters<typeof serverStatements>[1]) =>
    splitStatements(sample).flatMap((sql) => serverStatements(sql, shape))
  const options = { database: 'other', suffix, landings: ['calls_in'], scratch }
  await expect(
    [
      text('one server, another database', all({ database: 'other', scratch })),
      text('a cluster', all({ database: 'callhouse', cluster: 'main', scratch })),
      text('the tables of one worker', scratchStatements([sample], options)),
    ].join('\n'),
  ).toMatchFileSnapshot('server-ddl.sql')
})

const baseline = readFileSync(new URL('../baseline.sql', folder), 'utf8')

describe.each([
  ['every migration that is shipped', shipped],
  ['the baseline', [baseline]],
])('%s', (_, texts) => {
  let store: Store
  let remove: () => Promise<void>
  beforeAll(async () => {
    ;({ store, remove } = await createTestStore())
  })
  afterAll(() => remove())

  const inCluster = texts
    .flatMap(splitStatements)
    .flatMap((sql) => serverStatements(sql, { database: 'callhouse', cluster: 'main', scratch }))

  test('reaches every node of a cluster, replicated and readable over all shards', () => {
    for (const sql of inCluster) if (/^(CREATE|ALTER|DROP)\b/.test(sql)) expect(sql).toContain(' ON CLUSTER main')
    const engines = inCluster.map((sql) => /\bENGINE = (\w+)/.exec(sql)?.[1]).filter((name) => name !== undefined)
    for (const name of engines) expect(name).toMatch(/^(Null|Distributed|Replicated\w*MergeTree)$/)
    const spread = spreadTables(texts, scratch)
    expect(engines.filter((name) => name === 'Distributed')).toHaveLength(spread.size)
    expect([...spread]).toEqual(expect.arrayContaining(['calls', 'payloads', 'dead_letters']))
  })

  test('is SQL that the engine reads', async () => {
    const statements = [...inCluster, ...scratchStatements(texts, { database: 'callhouse', suffix, landings, scratch })]
    for (const sql of statements) {
      const [row] = await store.rows<{ text: string }>({
        name: 'format',
        sql: 'SELECT formatQuery({sql:String}) AS text',
        params: { sql },
      })
      expect(row?.text).not.toBe('')
    }
  })
})

describe('names', () => {
  const names = createServerNames({ database: 'db', suffix, spread: new Set(['calls']), scratch })

  test('are replaced in code only', () => {
    const sql = "SELECT 'callhouse.calls', `callhouse.calls` FROM callhouse.calls AS c -- callhouse.calls"
    expect(names.own(sql)).toBe(sql.replace('FROM callhouse.', 'FROM db.'))
    expect(names.reading(sql)).toBe(sql.replace('FROM callhouse.calls', 'FROM db.calls_all'))
    expect(names.own('DROP TABLE callhouse.{name:Identifier}')).toBe('DROP TABLE db.{name:Identifier}')
  })

  test('of scratch tables are those of the worker, and what is read beside them is local', () => {
    const sql = 'SELECT 1 FROM callhouse.calls JOIN callhouse.calls_batch'
    expect(names.reading(sql)).toBe(`SELECT 1 FROM db.calls JOIN db.calls_batch${suffix}`)
    expect(names.usesScratch(sql)).toBe(true)
    expect(names.usesScratch("SELECT 'callhouse.calls_batch'")).toBe(false)
  })

  test.each(['Worker-1.example.com', 'ä', 'x'.repeat(300)])(
    'of the worker %s are plain and never the same',
    (worker) => {
      const [one, two] = [ownerSuffix(worker), ownerSuffix(worker)]
      expect(one).toMatch(/^_w_\w{1,60}$/)
      expect(one).not.toBe(two)
      expect(suffixOf(`calls_batch${one}`, { landings, scratch })).toBe(one)
      expect(suffixOf(`calls_in_stage${one}`, { landings, scratch })).toBe(one)
      expect(suffixOf('calls_batch', { landings, scratch })).toBeUndefined()
      expect(suffixOf(`calls${one}`, { landings, scratch })).toBeUndefined()
    },
  )
})
