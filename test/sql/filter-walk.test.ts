// Counts how often a filter comes back on its way from the request to its SQL: a reader who follows it has to go back
// as often. What exported functions of services/query/calls return, and the functions in that, is looked into for a
// text of the filter; a function counts once.
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { sql } from '../../services/core/store/sql.ts'
import type { Query } from '../../services/core/store/store.ts'
import type { CallKey } from '../../services/query/calls/scope.ts'
import { rowReader } from '../../services/query/compact-rows.ts'

const keyColumns = rowReader<CallKey>({ startedUs: sql`started_us`, id: sql`id` })

const root = fileURLToPath(new URL('../../', import.meta.url))
const needle = 'a text of the filter'
/** Functions that gave the filter back, in whatever shape. */
const returned = new Set<string>()

function holdsNeedle(value: unknown, seen = new Set<unknown>()): boolean {
  if (typeof value === 'string') return value.includes(needle)
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  const inside = value instanceof Map || value instanceof Set ? [...value] : Object.values(value)
  return inside.some((one) => holdsNeedle(one, seen))
}

type AnyFunction = (...args: unknown[]) => unknown
const isObject = (value: unknown): value is object => Object.getPrototypeOf(value ?? 0) === Object.prototype

async function* watchedPages(name: string, pages: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  for await (const page of pages) yield noted(name, page)
}

/** Notes what holds the filter, and watches the functions in it in their turn. */
function noted(name: string, value: unknown): unknown {
  if (value instanceof Promise) return value.then((one) => noted(name, one))
  if (typeof value === 'function') return watched(`${name} ()`, value as AnyFunction)
  if (Object.prototype.toString.call(value) === '[object AsyncGenerator]')
    return watchedPages(name, value as AsyncGenerator<unknown>)
  if (holdsNeedle(value)) returned.add(name)
  if (!isObject(value) || !Object.values(value).some((one) => typeof one === 'function')) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      typeof one === 'function' ? watched(`${name} .${key}`, one as AnyFunction) : one,
    ]),
  )
}

const watched =
  (name: string, of: AnyFunction): AnyFunction =>
  (...args) =>
    noted(name, of(...args))

for (const file of globSync('services/query/calls/**/*.ts', { cwd: root }))
  vi.doMock(`${root}${file}`, async (original) => {
    const real = (await original()) as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(real).map(([name, one]) => [
        name,
        typeof one === 'function' ? watched(`${file} ${name}`, one as AnyFunction) : one,
      ]),
    )
  })

const { compileCallsQuery } = await import('../../services/query/calls/conditions/compile-query.ts')
const { createCountCache } = await import('../../services/query/calls/access/counts.ts')
const { readPages } = await import('../../services/query/calls/access/read-calls.ts')

const projectId = 'ent/proj' as ProjectId
const is = (field: string) => ({ query: { $expr: { $eq: [{ $getField: field }, { $literal: needle }] } } })

/** Three rows of (Int64), as the engine sends times. */
const times = Buffer.concat([5n, 4n, 3n].map((us) => Buffer.from(BigInt64Array.of(us).buffer)))
const answers: Record<string, string | Buffer> = {
  'calls.field-index-covered': '[0,"7"]\n',
  'calls.field-index-candidates': times,
}

it.each([
  ['an operation', { filter: { op_names: [needle] } }],
  ['a column', is('wb_user_id')],
  ['a field of a payload', is('inputs.a')],
  ['a field behind a ref', { ...is('inputs.a.b'), expand_columns: ['inputs.a'] }],
] as [string, Partial<Parameters<typeof compileCallsQuery>[0]>][])(
  '%s is followed in at most ten returns',
  async (_, request) => {
    returned.clear()
    const asked: string[] = []
    const query = compileCallsQuery({ projectId, ...request })
    const store = {
      async bytes({ name, sql: text, params }: Query) {
        if (holdsNeedle(params)) asked.push(name)
        expect(text).not.toContain(needle)
        return Buffer.from(answers[name] ?? '')
      },
      rows: async () => [],
    }
    const reader = { store, projectId, query, options: {}, cache: createCountCache() }
    for await (const _ of readPages(reader, { columns: keyColumns, limit: 10, offset: 0 })) expect.unreachable()
    expect(asked).toContain('calls.page')
    expect(returned.size).toBeGreaterThan(5)
    expect([...returned].slice(10)).toEqual([])
  },
)
