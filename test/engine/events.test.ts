// The declarations of services/events match the landing tables and the writers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { callsTopic } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import type { ColumnKind, TopicColumn } from '../../services/events/declaration.ts'
import { topics } from '../../services/events/registry.ts'
import { complete, end, start } from '../fixtures/call-world.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const named = Object.entries(topics)

it.each(named)('%s: is registered under its name', (name, topic) => expect(topic.name).toBe(name))

describe('the landing table of the migrations has the declared columns, types and defaults, in their order', () => {
  it.each(named)('%s', async (_, { landing, columns }) => {
    const found = await store.rows<{ name: string; declared: string }>({
      name: 'test',
      sql: `SELECT name, concat(type, if(default_kind = '', '', concat(' ', default_kind, ' ', default_expression))) AS declared
        FROM system.columns WHERE database = currentDatabase() AND table = {landing:String} ORDER BY position`,
      params: { landing },
    })
    const declared = Object.entries(columns).map(([name, { type }]) => ({ name, declared: type }))
    expect(found).toEqual([{ name: '_record', declared: 'String' }, ...declared])
  })
})

describe('the row writer', () => {
  const full: Record<ColumnKind, [value: unknown, written: string, fallback: unknown]> = {
    text: ['a"b', '"a\\"b"', ''],
    json: ['{"a":1}', '{"a":1}', ''],
    optional: ['', '""', null],
    choice: ['created', '"created"', undefined],
    number: [7, '7', 0],
    list: [['a', '\ud800'], '["a","\ufffd"]', []],
    map: [{ a: '\ud800' }, '{"a":"\ufffd"}', {}],
    jsonMap: ['{"a":"b"}', '{"a":"b"}', '{}'],
  }
  const valuesOf = (columns: Readonly<Record<string, TopicColumn>>, which: 0 | 2) =>
    Object.fromEntries(Object.entries(columns).map(([name, { kind }]) => [name, full[kind][which]]))

  it.each(named)('%s: writes every column that is given, in the declared order, as its kind says', (_, topic) => {
    const columns: Readonly<Record<string, TopicColumn>> = topic.columns
    const cells = Object.entries(columns).map(([name, { kind }]) => `"${name}":${full[kind][1]}`)
    expect(topic.cells(valuesOf(columns, 0))).toBe(cells.join())
  })

  it.each(named)('%s: leaves out what has its default, but for columns that are always written', (_, topic) => {
    const columns: Readonly<Record<string, TopicColumn>> = topic.columns
    const always = Object.keys(columns).filter((name) => columns[name]?.isAlwaysWritten)
    const line = JSON.parse(`{${topic.cells(valuesOf(columns, 2))}}`)
    const notZero = Object.keys(columns).filter((name) => columns[name]?.fallback !== undefined)
    expect(Object.keys(line).sort()).toEqual([...always, ...notZero].sort())
  })

  it('puts a JSON text that is no object or array into a string', () => {
    expect(topics.objects.cells({ val: '17' })).toBe('"val":"17"')
  })

  it('leaves out a number that is the declared default', () => {
    expect(callsTopic.cells({ run_step: -1, started_us: 5 })).toBe('"started_us":5')
  })
})

it('the writer of calls writes declared columns in the declared order, and knows all of them', () => {
  const usage = [{ model: 'm', requests: 1, input: 1, output: 1, total: 1, cacheRead: 1, cacheWrite: 1 }]
  const texts = { traceId: 't', parentId: 'p', threadId: 'h', turnId: 'u', opName: 'o', displayName: 'n' }
  const run = { userId: 'u', runId: 'r', runStep: 1, inputRefs: ['i'], otelDump: '{}' }
  const ended = { exception: 'e', runStepEnd: 2, outputRefs: ['o'], errorCount: 1, usage, output: '{}', summary: '{}' }
  const writer = createCallWriter()
  const masking = { version: 3, hits: 2 }
  writer.add(Object.assign(complete('a', { ...texts, ...run, ...ended, odd: true }), { masking }))
  writer.add(start('b', { ...texts, ...run, odd: true }))
  writer.add(end('c', { ...ended, odd: true }))
  const lines = writer.take().flatMap(({ rows }) => rows.toString().trimEnd().split('\n'))
  const declared = Object.keys(callsTopic.columns)
  const written = lines.map((line) => Object.keys(JSON.parse(line)))
  for (const keys of written) expect(keys).toEqual(declared.filter((name) => keys.includes(name)))
  expect(new Set(written.flat())).toEqual(new Set(declared))
})
