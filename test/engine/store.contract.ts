// The contract of every driver of the store port: values, limits, errors, inserts and their order.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Query, Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { runs } from '../fixtures/runs.ts'
import { readsTakeTurns } from './store-fairness.ts'
import { callLine, failure, linesOf } from './store-rows.ts'

export type StoreDriver = {
  name: string
  /** Connections for reads. */
  interactiveConnections: number
  /** Opens a store on an empty database, with its tables. */
  open(dir: string): Promise<Store>
}

const query = (sql: string, params: Record<string, unknown> = {}): Query => ({ name: 'test', sql, params })

export function storeContract(driver: StoreDriver): void {
  describe(`store: ${driver.name}`, () => {
    let dir: string
    let store: Store
    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'callhouse-store-'))
      store = await driver.open(dir)
    })
    afterAll(async () => {
      await store.close()
      rmSync(dir, { recursive: true, force: true })
    })

    const rows = <T>(sql: string, params: Record<string, unknown> = {}) => store.rows<T>(query(sql, params))
    /** The first column of the first row. */
    const value = async (sql: string, params: Record<string, unknown> = {}) =>
      Object.values((await rows<Record<string, unknown>>(`SELECT ${sql}`, params))[0] ?? {})[0]
    const insertLines = (lines: string[]) => {
      const file = join(dir, 'segment.jsonl')
      writeFileSync(file, linesOf(lines))
      return store.insert(topics.calls, { file })
    }
    const count = async (table: string, projectId: string) =>
      Number(
        (
          await rows<{ n: string }>(`SELECT count() AS n FROM callhouse.${table} FINAL WHERE project_id = {p:String}`, {
            p: projectId,
          })
        )[0]?.n,
      )

    describe('values', () => {
      test('64-bit integers are strings, and text comes back whole', async () => {
        expect(
          await rows("SELECT toUInt64(18446744073709551615) AS big, 'a\\nb/\\'\\\\\"' AS text, 1.5 AS f, [1] AS list"),
        ).toEqual([{ big: '18446744073709551615', text: 'a\nb/\'\\"', f: 1.5, list: [1] }])
        expect(await rows('SELECT 1 AS n WHERE 0')).toEqual([])
      })

      test('bytes are in the format that was asked for', async () => {
        const bytes = await store.bytes(
          query('SELECT number AS n, toString(n) AS s FROM numbers(2)'),
          'JSONCompactEachRow',
        )
        expect(bytes.toString()).toBe('["0", "0"]\n["1", "1"]\n')
        expect((await store.bytes(query('SELECT 1 WHERE 0'), 'TSV')).length).toBe(0)
      })

      test.each([
        ['String', "a'b\\c\nd\te\r\0\b\f\u{1F600}{x:String}--;/*"],
        ['Array(String)', ["'", '\\', "\\'", '\n', '\0', ',', '', '{a:String}', '\u{10FFFF}']],
        ['Array(Array(String))', [['a', "'"], []]],
        ['LowCardinality(String)', "it's"],
        ['Nullable(String)', null],
        ['Nullable(String)', 'NULL'],
        ['UInt64', '18446744073709551615'],
        ['Int64', '-9223372036854775808'],
        ['Array(UInt64)', ['0', '18446744073709551615']],
        ['Float64', 1.7976931348623157e308],
        ['Bool', true],
        ["DateTime64(6, 'UTC')", '2026-02-28 23:59:59.999999'],
        ["Array(DateTime64(6, 'UTC'))", ['1999-12-31 23:59:59.000001']],
        ['Array(Tuple(String, UInt8))', [["a'", 1]]],
        ['Map(String, String)', { "k'": "v'" }],
      ])('a %s parameter comes back as it went', async (type, given) => {
        expect(await value(`{v:${type}}`, { v: given })).toEqual(given)
      })

      test('lists of numbers come back bit by bit', async () => {
        const list = [0, -0, 5, -0.1, 5e-324, 1e-300, 2 ** 63, 1e21, Number.MAX_VALUE, 1 / 0, -1 / 0]
        const bits = [...new BigUint64Array(new Float64Array(list).buffer)].map(String)
        expect(await value('arrayMap(x -> reinterpretAsUInt64(x), {list:Array(Float64)})', { list })).toEqual(bits)
      })

      test('parameters of every type come back as they were sent', async () => {
        expect(await value('{v:UInt64}', { v: 2n ** 64n - 1n })).toBe('18446744073709551615')
        expect(await value("{v:DateTime64(3, 'UTC')}", { v: new Date('2026-01-02T03:04:05.678Z') })).toBe(
          '2026-01-02 03:04:05.678',
        )
        expect(await value('{v:Array(String)}', { v: [] })).toEqual([])
        expect(await value('{n:UInt8} + {m:Int16}', { n: 7, m: -8 })).toBe(-1)
        expect(
          await rows('SELECT number AS v FROM numbers(9) LIMIT {l:UInt32} OFFSET {o:UInt32}', { l: 1, o: 3 }),
        ).toEqual([{ v: '3' }])
      })

      test('any text and any list of texts come back as they went', async () => {
        const text = fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({
            unit: fc.constantFrom("'", '\\', '\n', '\0', ',', '|', '\x1f', '`', '"', ';', '-', '{', '}', 'x'),
          }),
        )
        await fc.assert(
          fc.asyncProperty(text, fc.array(text, { maxLength: 60 }), async (one, list) => {
            const [row] = await rows<{ one: string; list: string[] }>(
              'SELECT {one:String} AS one, {list:Array(String)} AS list',
              { one, list },
            )
            expect(row).toEqual({ one, list })
          }),
          { numRuns: runs(20, 200) },
        )
      })

      test.each([',', '|', '\x1f'])('a list of thousands of texts, with %j in them', async (char) => {
        const list = Array.from({ length: 5000 }, (_, i) => `${i}${char}'\\`)
        expect(await value('{list:Array(String)}', { list })).toEqual(list)
        const tail = `${char}'\\`
        const found = 'count() FROM numbers(9999) WHERE concat(toString(number), {tail:String}) IN {list:Array(String)}'
        expect(await value(found, { list, tail })).toBe('5000')
      })

      test('a parameter in a string or a comment is text', async () => {
        expect(
          await rows("SELECT '{a:String}' AS x, {a:String} AS y /* {b:String} */ -- {c:String}", { a: 'z' }),
        ).toEqual([{ x: '{a:String}', y: 'z' }])
      })

      test.each([
        ['SELECT {a:String}', {}],
        ['SELECT {a:UInt8}', { a: 256 }],
        ['SELECT {a:UInt8}', { a: -1 }],
        ['SELECT {a:UInt64}', { a: 2 ** 53 }],
        ['SELECT {a:UInt64}', { a: '1; DROP TABLE x' }],
        ['SELECT {a:String}', { a: 1 }],
        ['SELECT {a:Array(String)}', { a: 'x' }],
        ["SELECT {a:DateTime64(6, 'UTC')}", { a: "2026-01-01', 'x" }],
        ['SELECT {a:Identifier}', { a: 'x y' }],
        ['SELECT 1; SELECT 2', {}],
        ["SELECT 'x", {}],
      ])('%s with %j is refused', async (sql, params) => {
        expect((await failure(rows(sql, params))).kind).toBe('query')
      })
    })

    describe('limits and errors', () => {
      const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'
      const clean = async () => {
        const answers = await Promise.all(
          Array.from({ length: 12 }, () => store.bytes(query('SELECT 42 AS a'), 'JSONEachRow')),
        )
        expect(new Set(answers.map(String))).toEqual(new Set(['{"a":42}\n']))
      }

      test.each([
        ['SELEC 1', 62],
        ['SELECT * FROM callhouse.nothing', 60],
        ['SELECT * FROM nothing', 60],
        ['SELECT nothing FROM callhouse.calls', 47],
      ])('%s is a fault of the query', async (sql, code) => {
        expect(await failure(rows(sql))).toMatchObject({ kind: 'query', code })
        await clean()
      })

      test('a result that breaks off leaves nothing behind', async () => {
        for (let i = 0; i < 8; i++) {
          const error = await failure(
            rows('SELECT throwIf(number = 90000) AS x FROM numbers(200000) SETTINGS max_block_size = 1000'),
          )
          expect(error.kind).toBe('query')
        }
        await clean()
      })

      test('a query over its time is stopped', async () => {
        expect((await failure(store.rows(query(endless), { timeoutMs: 200 }))).kind).toBe('timeout')
        await clean()
      })

      test('a query over its memory is stopped, and the next one has its own limit', async () => {
        const sql = 'SELECT length(groupArray(number)) AS n FROM numbers(3000000)'
        expect((await failure(store.rows(query(sql), { memoryBytes: 2 ** 23 }))).kind).toBe('memory')
        for (let i = 0; i < 6; i++) expect(await rows(sql)).toEqual([{ n: '3000000' }])
      })

      test('an aborted query ends in the engine', async () => {
        const abort = new AbortController()
        const mark = 'aborted by the contract'
        const sql = endless.replace('SELECT', `SELECT '${mark}',`)
        const running = failure(store.rows(query(sql), { signal: abort.signal, timeoutMs: 60_000 }))
        const seen = async () =>
          Number(
            await value('count() FROM system.processes WHERE startsWith(query, {start:String})', {
              start: `SELECT '${mark}'`,
            }),
          )
        while ((await seen()) === 0);
        abort.abort()
        expect((await running).kind).toBe('cancelled')
        while ((await seen()) > 0);
        await clean()
      })

      test('a signal that is already aborted starts nothing', async () => {
        expect((await failure(store.rows(query('SELECT 1'), { signal: AbortSignal.abort() }))).kind).toBe('cancelled')
      })

      test('more queries than connections all get their own answer', async () => {
        const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => value('{i:UInt32}', { i })))
        expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => i))
      })

      test('the export connections answer too', async () => {
        expect(await store.rows(query('SELECT 1 AS n'), { pool: 'export' })).toEqual([{ n: 1 }])
      })

      test.each([
        "INSERT INTO callhouse.rollups (name, position) SELECT 'x', 1",
        'TRUNCATE TABLE callhouse.rollups',
        'DROP TABLE callhouse.rollups',
        'SET readonly = 0',
      ])('a read cannot write: %s', async (sql) => {
        await failure(rows(sql))
        expect(await value('count() FROM callhouse.rollups')).toBe('0')
      })
    })

    describe('inserts', () => {
      test('a file and bytes give the same rows and their exact count', async () => {
        const lines = Array.from({ length: 500 }, (_, i) =>
          callLine({ project: 'both', id: `c${i}`, parent: i % 2 ? 'c0' : '' }),
        )
        expect(await insertLines(lines)).toEqual({ rowsRead: 500 })
        expect(await count('calls', 'both')).toBe(500)
        expect(await store.insert(topics.calls, { bytes: lines.map((line) => Buffer.from(`${line}\n`)) })).toEqual({
          rowsRead: 500,
        })
        for (const table of ['calls', 'payloads']) expect(await count(table, 'both')).toBe(500)
        // An id and a trace of its own for each call, and one parent; all of them started at the same time.
        expect(await count('call_keys', 'both')).toBe(500 + 500 + 1)
      })

      test('an insert of no rows changes nothing', async () => {
        expect(await store.insert(topics.calls, { bytes: [] })).toEqual({ rowsRead: 0 })
      })

      test('payload text is kept byte for byte', async () => {
        const payloads = [
          '{"a":1.0,"b":12345678901234567890123,"c":1e400,"d":-0,"a":2,"x.y":{"z":[1,2,{}]}}',
          '[1.50,true,null,"\\ud83d\\ude00 \\n\\n \\\\ \\u0000"]',
          '{"é":"ü","":[],"s":"2026-01-01","n":"007"}',
          `${'['.repeat(600)}${']'.repeat(600)}`,
          `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`,
        ]
        await insertLines(payloads.map((inputs, i) => callLine({ project: 'exact', id: `c${i}`, inputs })))
        const got = await rows<{ inputs: string }>(
          "SELECT inputs FROM callhouse.payloads FINAL WHERE project_id = 'exact' ORDER BY id",
        )
        expect(got.map((row) => row.inputs)).toEqual(payloads)
      })

      test('a payload that is no container is stored as its JSON text', async () => {
        const texts = ['null', '1.0', 'true', '"text \\n"']
        await insertLines(
          texts.map((text, i) => callLine({ project: 'scalars', id: `c${i}`, inputs: JSON.stringify(text) })),
        )
        const got = await rows<{ inputs: string }>(
          "SELECT inputs FROM callhouse.payloads FINAL WHERE project_id = 'scalars' ORDER BY id",
        )
        expect(got.map((row) => row.inputs)).toEqual(texts)
      })

      test('a line of many megabytes loads', async () => {
        const inputs = JSON.stringify({ text: 'x'.repeat(20 * 2 ** 20) })
        expect(
          await insertLines([callLine({ project: 'large', id: 'a', inputs }), callLine({ project: 'large', id: 'b' })]),
        ).toEqual({ rowsRead: 2 })
        expect(await value("max(length(inputs)) FROM callhouse.payloads WHERE project_id = 'large'")).toBe(
          String(inputs.length),
        )
      })

      test('rows of a year arrive in one insert; those of many more months are refused as such', async () => {
        const monthUs = 31 * 86_400 * 1e6
        const lines = Array.from({ length: 60 }, (_, i) =>
          callLine({ project: 'months', id: `c${i}`, startedUs: 1_000_000_000_000_000 + i * monthUs }),
        )
        const refused = await failure(insertLines(lines))
        expect(refused).toMatchObject({ kind: 'outage', code: 252 })
        expect(refused.message).toContain('partitions for single INSERT block')
        expect(await insertLines(lines.slice(0, 12))).toEqual({ rowsRead: 12 })
        const months = "count(DISTINCT toYYYYMM(started_at)) FROM callhouse.calls WHERE project_id = 'months'"
        expect(await value(months)).toBe('12')
      })

      test('the same rows again change no answer', async () => {
        const lines = Array.from({ length: 50 }, (_, i) => callLine({ project: 'again', id: `c${i}` }))
        for (let i = 0; i < 3; i++) expect(await insertLines([...lines, ...lines])).toEqual({ rowsRead: 100 })
        expect(await count('calls', 'again')).toBe(50)
        expect(await count('payloads', 'again')).toBe(50)
      })

      test.each([
        ['an unknown field', callLine({ project: 'bad', id: 'x' }).replace('{', '{"surprise":1,')],
        ['text for a number', callLine({ project: 'bad', id: 'x' }).replace(/"started_us":\d+/, '"started_us":"soon"')],
        ['an unknown kind', callLine({ project: 'bad', id: 'x' }).replace('"complete"', '"odd"')],
        ['no JSON', 'hello'],
        ['a torn line', callLine({ project: 'bad', id: 'x' }).slice(0, -5)],
        ['SQL', '\n\nDROP TABLE callhouse.rollups\n\nSELECT 1'],
      ])('%s is a fault of the data, and the next insert is not touched', async (_, line) => {
        expect((await failure(insertLines([callLine({ project: 'bad', id: 'y' }), line]))).kind).toBe('data')
        expect(await insertLines([callLine({ project: 'good', id: 'z' })])).toEqual({ rowsRead: 1 })
        expect(await count('calls', 'good')).toBe(1)
        expect(await value('count() FROM callhouse.rollups')).toBe('0')
      })

      test('a file that is not there is an outage', async () => {
        expect((await failure(store.insert(topics.calls, { file: join(dir, 'missing.jsonl') }))).kind).toBe('outage')
      })

      test('commands and inserts take effect in the order of their calls', async () => {
        await store.command(
          query(
            'CREATE TABLE IF NOT EXISTS callhouse.test_order (n UInt32, calls UInt64) ENGINE = MergeTree ORDER BY n',
          ),
        )
        const done: Promise<unknown>[] = []
        for (let i = 0; i < 10; i++) {
          done.push(
            store.insert(topics.calls, { bytes: [Buffer.from(`${callLine({ project: 'order', id: `c${i}` })}\n`)] }),
          )
          done.push(
            store.command(
              query(
                "INSERT INTO callhouse.test_order SELECT {i:UInt32}, count() FROM callhouse.calls FINAL WHERE project_id = 'order'",
                { i },
              ),
            ),
          )
        }
        await Promise.all(done)
        expect(await rows('SELECT n, toUInt32(calls) AS calls FROM callhouse.test_order ORDER BY n')).toEqual(
          Array.from({ length: 10 }, (_, n) => ({ n, calls: n + 1 })),
        )
      })

      test('a command beside the inserts waits for none of them, nor for work in the background', async () => {
        await store.command(
          query('CREATE TABLE IF NOT EXISTS callhouse.test_aside (n UInt64) ENGINE = MergeTree ORDER BY n'),
        )
        const order: string[] = []
        const insert = (what: string, by: string, options = {}) =>
          store
            .command(query(`INSERT INTO callhouse.test_aside SELECT ${what} SETTINGS max_block_size = 1`), options)
            .then(() => order.push(by))
        const slow = insert('sum(sleepEachRow(0.1)) FROM numbers(20)', 'background', { background: true })
        await insert('7', 'command')
        const waiting = insert('sum(sleepEachRow(0.1)) FROM numbers(15)', 'command')
        await insert('8', 'beside', { beside: true })
        await Promise.all([slow, waiting])
        expect([...order.slice(0, 2), ...order.slice(2).sort()]).toEqual(['command', 'beside', 'background', 'command'])
        expect(await value('toUInt32(sum(n)) FROM callhouse.test_aside')).toBe(15)
      })

      test('objects and files have their own landing tables', async () => {
        const object =
          '{"project_id":"p","object_id":"o","kind":"object","digest":"d","clock":1,"event":"created","val":{"a":1.0}}\n'
        const file = `{"project_id":"p","digest":"d","clock":1,"n_chunks":1,"size_bytes":3,"content":"${Buffer.from([0, 10, 255]).toString('base64')}"}\n`
        expect(await store.insert(topics.objects, { bytes: [Buffer.from(object)] })).toEqual({ rowsRead: 1 })
        expect(await store.insert(topics.files, { bytes: [Buffer.from(file)] })).toEqual({ rowsRead: 1 })
        expect(await rows("SELECT val FROM callhouse.objects WHERE project_id = 'p'")).toEqual([{ val: '{"a":1.0}' }])
        expect(await value("hex(content) FROM callhouse.files WHERE project_id = 'p'")).toBe('000AFF')
        const broken = file.replace(/"content":"[^"]*"/, '"content":"%%%"')
        expect((await failure(store.insert(topics.files, { bytes: [Buffer.from(broken)] }))).kind).toBe('data')
      })
    })

    readsTakeTurns(driver.interactiveConnections, () => store)

    test('migrations that are applied are not applied again', async () => {
      expect(await store.migrate()).toEqual({ applied: [] })
    })

    test('a sound store is healthy', async () => expect(await store.health()).toEqual({ status: 'ok' }))
  })
}
