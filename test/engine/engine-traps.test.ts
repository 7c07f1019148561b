// tier: deep slow
// The engine's traps (docs/concepts.md): what it does by itself, and that the embedded driver is safe from it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Session } from 'chdb'
import { createChdbConnection } from 'chdb/connection'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { type Query, type Store, StoreError } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { callLine, linesOf } from './store-rows.ts'

const query = (sql: string, params: Record<string, unknown> = {}): Query => ({ name: 'test', sql, params })
const limits = { memoryCapBytes: 2 ** 31, queryTimeoutMs: 20_000, queryMemoryBytes: 2 ** 29 }

let dir: string
let store: Store
let raw: Session

const openAll = async () => {
  store = await createEmbeddedStore({ dir, ...limits, maxResultBytes: 2 ** 20 })
  raw = new Session(join(dir, 'clickhouse'))
}
const closeAll = async () => {
  raw.close()
  await store.close()
}
const rawText = async (sql: string, format = 'JSONEachRow') => (await raw.queryAsync(sql, { format })).text()
const countOf = async (project: string) =>
  (
    await store.rows<{ n: number }>(
      query('SELECT toUInt32(count()) AS n FROM callhouse.calls FINAL WHERE project_id = {project:String}', {
        project,
      }),
    )
  )[0]?.n

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-traps-'))
  await openAll()
  await store.migrate()
})
afterAll(async () => {
  await closeAll()
  rmSync(dir, { recursive: true, force: true })
})

describe('1: an inline insert ends at an empty line and what follows runs as SQL', () => {
  const bytes = (table: string) =>
    Buffer.from(`${callLine({ project: 'inline', id: 'a' })}\n\nDROP TABLE callhouse.${table}`)

  test('the engine drops a table that a row names', async () => {
    await rawText('CREATE TABLE callhouse.victim (s String) ENGINE = Memory')
    await raw.insert({ table: 'callhouse.calls_in', format: 'JSONEachRow', values: bytes('victim') }).catch(() => {})
    expect(await rawText("SELECT count() AS n FROM system.tables WHERE name = 'victim'")).toBe('{"n":0}\n')
  })

  test('the driver refuses the bytes as data', async () => {
    const outcome = await store.insert(topics.calls, { bytes: [bytes('rollups')] }).catch((error: unknown) => error)
    expect(outcome).toMatchObject({ kind: 'data' })
    expect(await rawText("SELECT count() AS n FROM system.tables WHERE name = 'rollups'")).toBe('{"n":1}\n')
  })

  test('empty lines between rows and in strings are nothing special', async () => {
    const first = callLine({ project: 'lines', id: 'a', inputs: '{"text":"x\\n\\nDROP TABLE callhouse.rollups"}' })
    const rows = `${first}\n\n\n${callLine({ project: 'lines', id: 'b' })}\n\n`
    expect(await store.insert(topics.calls, { bytes: [Buffer.from(rows)] })).toEqual({ rowsRead: 2 })
  })
})

describe('2: file() expands patterns, archives and compression in its path', () => {
  test('the engine reads nothing from a path with a pattern and says nothing', async () => {
    const odd = join(dir, 'x{1,2}y')
    mkdirSync(odd)
    writeFileSync(join(odd, 'a.jsonl'), '{"n":1}\n')
    const answer = await rawText(`SELECT count() AS n FROM file('${odd}/*.jsonl', JSONEachRow, 'n UInt8')`).catch(
      (error) => error.message,
    )
    expect(answer).not.toBe('{"n":1}\n')
  })

  test.each(['a{1,2}b', 'a*b', 'a?b', 'a::b.zip', 'a b', "a'b", 'a\\b', 'ä', 'plain.gz', '-plain'])(
    'the driver inserts a file named %s',
    async (name) => {
      const folder = join(dir, 'odd', name)
      mkdirSync(folder, { recursive: true })
      const file = join(folder, `${name}.jsonl`)
      writeFileSync(
        file,
        linesOf([callLine({ project: `file ${name}`, id: 'a' }), callLine({ project: `file ${name}`, id: 'b' })]),
      )
      expect(await store.insert(topics.calls, { file })).toEqual({ rowsRead: 2 })
      expect(await countOf(`file ${name}`)).toBe(2)
    },
  )

  test('nothing is left of the links and copies', () => {
    expect(readdirSync(join(dir, 'clickhouse', 'incoming'))).toEqual([])
  })
})

describe('3: settings of one call stay set on the connection', () => {
  const setting = "SELECT getSetting('max_block_size') AS v, getSetting('max_memory_usage') AS m"

  test("the client's settings of a call leak to the next one", async () => {
    const connection = createChdbConnection({ path: join(dir, 'clickhouse') })
    await connection.command({ query: 'SELECT 1', clickhouse_settings: { max_block_size: '777' } })
    const next = await connection.query({ query: `${setting} FORMAT JSONEachRow` })
    expect(await text(next.stream)).toContain('777')
    await connection.close()
  })

  test('the settings of a statement of the driver do not', async () => {
    const [before] = await store.rows(query(setting))
    const own = await store.rows(query(`${setting} SETTINGS max_block_size = 777`), { memoryBytes: 12_345_678 })
    expect(own).toEqual([{ v: 777, m: 12345678 }])
    const after = await Promise.all(Array.from({ length: 12 }, () => store.rows(query(setting))))
    expect(after).toEqual(after.map(() => [before]))
  })
})

describe('4: a connection keeps what a failed statement had put out', () => {
  const broken =
    'SELECT throwIf(number = 90000) AS x FROM numbers(200000) SETTINGS max_block_size = 1000, max_threads = 1'

  test("the engine's next result starts with leftovers", async () => {
    const session = new Session(join(dir, 'clickhouse'))
    await session.queryAsync(broken, { format: 'JSONEachRow' }).catch(() => {})
    expect((await session.queryAsync('SELECT 42 AS a', { format: 'JSONEachRow' })).text().length).toBeGreaterThan(20)
    session.close()
  })

  test('the driver never uses that connection again', async () => {
    for (let i = 0; i < 6; i++) {
      await expect(store.rows(query(broken))).rejects.toBeInstanceOf(StoreError)
      expect(String(await store.bytes(query('SELECT 42 AS a'), 'JSONEachRow'))).toBe('{"a":42}\n')
    }
    const insert = store.command(
      query('INSERT INTO callhouse.rollups (name, position) SELECT throwIf(number > 70000), 1 FROM numbers(100000)'),
    )
    await expect(insert).rejects.toBeInstanceOf(StoreError)
    expect(
      await store.insert(topics.calls, { bytes: [Buffer.from(linesOf([callLine({ project: 'l', id: 'x' })]))] }),
    ).toEqual({ rowsRead: 1 })
  })

  test('a queue behind stopped queries moves on', async () => {
    const abort = new AbortController()
    // One for each connection.
    const stuck = Array.from({ length: 5 }, () =>
      store
        .rows(query('SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'), { signal: abort.signal })
        .catch((error: StoreError) => error.kind),
    )
    const queued = Array.from({ length: 8 }, (_, i) => store.rows(query('SELECT {i:UInt8} AS i', { i })))
    const late = store.rows(query('SELECT 1'), { timeoutMs: 1 }).catch((error: StoreError) => error.kind)
    expect(await late).toBe('timeout')
    abort.abort()
    expect(await Promise.all(stuck)).toEqual(stuck.map(() => 'cancelled'))
    expect(await Promise.all(queued)).toEqual(queued.map((_, i) => [{ i }]))
  })
})

test('5: a result over the bound is refused, not buffered', async () => {
  const outcome = await store
    .rows(query('SELECT repeat(toString(number), 100) AS s FROM numbers(100000)'))
    .catch((error: unknown) => error)
  expect(outcome).toMatchObject({ kind: 'memory', code: 396 })
})

describe('6: parts are not synced unless the table says so', () => {
  test('the defaults of the engine are off', async () => {
    const names =
      "('fsync_after_insert', 'fsync_part_directory', 'min_rows_to_fsync_after_merge', 'old_parts_lifetime')"
    const answer = await rawText(`SELECT DISTINCT value AS v FROM system.merge_tree_settings WHERE name IN ${names}`)
    expect(answer).toBe('{"v":"0"}\n')
  })

  test('every table of ours says so', async () => {
    const tables = await store.rows<{ name: string; engine_full: string }>(
      query("SELECT name, engine_full FROM system.tables WHERE database = 'callhouse' AND engine LIKE '%MergeTree'"),
    )
    expect(tables.length).toBeGreaterThan(10)
    for (const { name, engine_full: engine } of tables) {
      for (const setting of ['fsync_after_insert = 1', 'fsync_part_directory = 1', 'min_rows_to_fsync_after_merge = 1'])
        expect(engine, name).toContain(setting)
      expect(Number(/old_parts_lifetime = (\d+)/.exec(engine)?.[1]), name).toBeGreaterThanOrEqual(60)
      expect(engine, name).not.toContain(' TTL ')
    }
  })

  test('a broken part is seen at the next start', async () => {
    await store.insert(topics.calls, {
      bytes: [Buffer.from(linesOf([callLine({ project: 'broken', id: 'a', startedUs: 1_100_000_000_000_000 })]))],
    })
    const [part] = await store.rows<{ path: string }>(
      query(
        "SELECT path FROM system.parts WHERE active AND database = 'callhouse' AND table = 'payloads' AND partition = '200411'",
      ),
    )
    await closeAll()
    writeFileSync(join(part?.path as string, 'columns.txt'), 'not a list of columns')
    await openAll()
    const health = await store.health()
    expect(health.status).toBe('degraded')
    expect(health.reason).toContain('payloads/')
    rmSync(join(part?.path as string, '..', 'detached'), { recursive: true, force: true })
    await closeAll()
    await openAll()
    expect(await store.health()).toEqual({ status: 'ok' })
  })
})

describe('7: in the database `default` the name of a missing table is the path of a file', () => {
  test('the engine reads the file', async () => {
    writeFileSync(join(dir, 'secret.csv'), '1,2\n')
    expect(await rawText(`SELECT * FROM \`${join(dir, 'secret.csv')}\``)).toBe('{"c1":1,"c2":2}\n')
  })

  test('the driver does not', async () => {
    const outcome = await store
      .rows(query(`SELECT * FROM \`${join(dir, 'secret.csv')}\``))
      .catch((error: unknown) => error)
    expect(outcome).toMatchObject({ kind: 'query', code: 60 })
    expect(await store.rows(query("SELECT engine FROM system.databases WHERE name = 'callhouse'"))).toEqual([
      { engine: 'Atomic' },
    ])
  })
})

describe('8: one process per folder, and a clean end', () => {
  const program = new URL('./store-process.ts', import.meta.url).pathname
  const start = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], { env: { ...process.env, UV_THREADPOOL_SIZE: '16' } })
  const run = async (...args: string[]) => {
    const child = start(...args)
    let out = ''
    let err = ''
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    child.stderr?.on('data', (chunk) => {
      err += chunk
    })
    const [code, signal] = await once(child, 'close')
    return { code, signal, out: out.trim(), err: err.trim() }
  }

  test('a second process is refused and told who holds the folder', async () => {
    const { code, out } = await run(dir, 'close')
    expect(code).toBe(0)
    expect(out).toContain('outage')
    expect(out).toContain(`process ${process.pid}`)
  })

  test('a second folder in this process is refused', async () => {
    const other = mkdtempSync(join(tmpdir(), 'callhouse-traps-'))
    await expect(createEmbeddedStore({ dir: other, ...limits })).rejects.toMatchObject({ kind: 'outage' })
    rmSync(other, { recursive: true, force: true })
  })

  test('the store opens, closes and opens again in one process', async () => {
    await store.insert(topics.calls, { bytes: [Buffer.from(linesOf([callLine({ project: 'reopened', id: 'a' })]))] })
    for (let i = 0; i < 3; i++) {
      await closeAll()
      expect(await store.health()).toMatchObject({ status: 'down' })
      await expect(store.rows(query('SELECT 1'))).rejects.toMatchObject({ kind: 'outage' })
      await expect(store.command(query('SELECT 1'))).rejects.toMatchObject({ kind: 'outage' })
      await openAll()
      expect(await countOf('reopened')).toBe(1)
    }
  })

  test('close waits for what is in flight', async () => {
    const slow = store.rows(query('SELECT sum(sleepEachRow(0.05)) AS s FROM numbers(4) SETTINGS max_block_size = 1'))
    const inserts = Array.from({ length: 3 }, (_, i) =>
      store.insert(topics.calls, { bytes: [Buffer.from(linesOf([callLine({ project: 'closing', id: `c${i}` })]))] }),
    )
    await closeAll()
    expect(await slow).toEqual([{ s: '0' }])
    expect(await Promise.all(inserts)).toEqual([{ rowsRead: 1 }, { rowsRead: 1 }, { rowsRead: 1 }])
    await openAll()
    expect(await countOf('closing')).toBe(3)
  })

  test.each([
    ['close', { code: 0, signal: null }],
    ['exit', { code: 0, signal: null }],
    // The engine's own end would wait for the statement that runs, for ever.
    ['busy', { code: null, signal: 'SIGKILL' }],
  ])('a process that ends with %s ends at once', async (how, ending) => {
    const folder = mkdtempSync(join(tmpdir(), 'callhouse-traps-'))
    expect(await run(folder, how)).toEqual({ ...ending, out: 'opened', err: '' })
    // nothing is broken
    expect(await run(folder, 'close')).toEqual({ code: 0, signal: null, out: 'opened', err: '' })
    rmSync(folder, { recursive: true, force: true })
  })
})

test('10: every read has its limits in the engine', async () => {
  const sql = "SELECT Settings AS s FROM system.processes WHERE query LIKE '%its own limits%'"
  const [row] = await store.rows<{ s: Record<string, string> }>(query(sql), {
    timeoutMs: 4000,
    memoryBytes: 50_000_000,
  })
  expect(row?.s).toMatchObject({ max_execution_time: '4', max_memory_usage: '50000000', readonly: '2' })
})
