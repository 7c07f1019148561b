// Conditions, order, pages and counts through refs against a plain model, over random objects, calls and requests.
// again: property
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Model = { id: string; at: number; inputs: { [key: string]: Json } }

const project_id = 'e/brute'
const hex = (n: number): string => n.toString(16).padStart(12, '0')
const keys = ['a', 'b', 'c']

let server: RunningServer
/** Values by ref, as they were published. */
const published = new Map<string, Json>()
const calls: Model[] = []

/** Deterministic choices: the world is one, the requests are random. */
let seed = 7
const pick = <T>(list: readonly T[]): T => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return list[Math.floor((seed / 2 ** 31) * list.length)] as T
}
const scalars: Json[] = [null, true, 0, 1, 5, 5.5, -3, '', '5', 'abc', 'é', '1e3', [1, 'x'], { a: 2 }]

async function publish(val: Json): Promise<string> {
  const { digest } = await server.send<{ digest: string }>('/obj/create', { obj: { project_id, object_id: 'o', val } })
  const ref = `weave:///${project_id}/object/o:${digest}`
  published.set(ref, val)
  return ref
}

beforeAll(async () => {
  server = await sharedServer()
  let level: Json[] = scalars
  // Three levels of objects: each may hold refs to the level below, and so may the calls.
  for (let depth = 0; depth < 3; depth++) {
    const next: Json[] = [...scalars]
    for (let n = 0; n < 6; n++) {
      const val = Object.fromEntries(keys.filter(() => pick([true, true, false])).map((key) => [key, pick(level)]))
      next.push(await publish(val))
    }
    level = next
  }
  const { row_digests, digest } = await server.send<{ row_digests: string[]; digest: string }>('/table/create', {
    table: { project_id, rows: [{ a: 1, b: pick([...published.keys()]) }, { a: 'row' }] },
  })
  const set = await publish({ rows: `weave:///${project_id}/table/${digest}` })
  const stored = await server.send<{ rows: { val: Json }[] }>('/table/query', { project_id, digest })
  for (const [n, row] of row_digests.entries()) {
    const ref = `${set}/attr/rows/id/${row}`
    published.set(ref, stored.rows[n]?.val ?? null)
    level.push(ref)
  }
  level.push(`weave:///${project_id}/object/o:${'n'.repeat(43)}`, `${[...published.keys()][0]}/attr/a`)
  published.set(level.at(-1) as string, (published.get([...published.keys()][0] as string) as { a?: Json })?.a ?? null)
  const start = Date.UTC(2026, 2, 10)
  for (let n = 0; n < 40; n++) {
    const inputs = Object.fromEntries(keys.map((key) => [key, pick(level.slice(6))]))
    calls.push({ id: `0195cccc-0000-7000-8000-${hex(n)}`, at: start + Math.floor(n / 2) * 1000, inputs })
  }
  const batch = calls.map(({ id, at, inputs }) => ({
    project_id,
    id,
    trace_id: id,
    op_name: 'op',
    attributes: {},
    summary: {},
    output: null,
    inputs,
    started_at: new Date(at).toISOString(),
    ended_at: new Date(at).toISOString(),
  }))
  await server.send(`/v2/${project_id}/calls/complete`, { batch })
})

const isMap = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A field's value: undefined = NULL, null = missing or JSON null. */
function readOf(call: Model, path: string[], expand: ReadonlySet<string>): Json | undefined {
  let value: Json = call.inputs
  const at = ['inputs']
  for (let n = 0; n <= path.length; n++) {
    if (expand.has(at.join('.'))) {
      const found: Json | undefined = typeof value === 'string' ? published.get(value) : undefined
      if (found === undefined || found === null) return undefined
      value = found
    }
    const key = path[n]
    if (key === undefined) break
    value = isMap(value) ? (value[key] ?? null) : null
    at.push(key)
    // Below a listed path that leads nowhere there is no ref.
    if (value === null) {
      const rest = path.slice(n).some((_, k) => expand.has(['inputs', ...path.slice(0, n + k + 1)].join('.')))
      return rest ? undefined : null
    }
  }
  return value
}

const textOf = (value: Json): string =>
  value === null
    ? ''
    : typeof value === 'string'
      ? value
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
const numberOf = (value: Json): number | null => {
  const text = textOf(value)
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : null
}

type Expr =
  | { is: 'gt'; path: string[]; value: number }
  | { is: 'eq'; path: string[]; value: string }
  | { is: 'null'; path: string[] }
  | { is: 'exists'; path: string[] }
  | { is: 'has'; path: string[]; value: string }
  | { is: 'not'; of: Expr }
  | { is: 'and'; of: Expr[] }
  | { is: 'or'; of: Expr[] }

const nameOf = (path: string[]): string => ['inputs', ...path].join('.')
const operand = (path: string[]) => ({ $getField: nameOf(path) })

function wire(expr: Expr): unknown {
  switch (expr.is) {
    case 'gt':
      return { $gt: [operand(expr.path), { $literal: expr.value }] }
    case 'eq':
      return { $eq: [operand(expr.path), { $literal: expr.value }] }
    case 'null':
      return { $eq: [operand(expr.path), { $literal: null }] }
    case 'exists':
      return { $and: [{ $convert: { input: operand(expr.path), to: 'exists' } }] }
    case 'has':
      return { $contains: { input: operand(expr.path), substr: { $literal: expr.value } } }
    case 'not':
      return { $not: [wire(expr.of)] }
    default:
      return { [`$${expr.is}`]: expr.of.map(wire) }
  }
}

function holds(expr: Expr, call: Model, expand: ReadonlySet<string>): boolean | null {
  if (expr.is === 'not') {
    const of = holds(expr.of, call, expand)
    return of === null ? null : !of
  }
  if (expr.is === 'and' || expr.is === 'or') {
    const of = expr.of.map((one) => holds(one, call, expand))
    if (of.includes(expr.is === 'or')) return expr.is === 'or'
    return of.includes(null) ? null : expr.is === 'and'
  }
  const value = readOf(call, expr.path, expand)
  if (expr.is === 'null') return value === undefined
  if (expr.is === 'exists') return value !== undefined && value !== null
  if (value === undefined) return null
  if (expr.is === 'eq') return textOf(value) === expr.value
  if (expr.is === 'has') return textOf(value).includes(expr.value)
  const number = numberOf(value)
  return number === null ? null : number > expr.value
}

const path = fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 3 })
const { expr } = fc.letrec<{ expr: Expr }>((tie) => ({
  expr: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'expr' },
    fc.record({ is: fc.constant('gt' as const), path, value: fc.constantFrom(-5, 0.5, 1, 5) }),
    fc.record({ is: fc.constant('eq' as const), path, value: fc.constantFrom('', '5', 'abc', 'é', 'true', 'row') }),
    fc.record({ is: fc.constantFrom('null' as const, 'exists' as const), path }),
    fc.record({ is: fc.constant('has' as const), path, value: fc.constantFrom('', 'a', '5', 'weave', '"') }),
    tie('expr').map((of): Expr => ({ is: 'not', of })),
    fc.record({
      is: fc.constantFrom('and' as const, 'or' as const),
      of: fc.array(tie('expr'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}))

const bytes = (text: string) => Buffer.from(text)

function compareBy(sortPath: string[], isDesc: boolean, expand: ReadonlySet<string>) {
  const sign = isDesc ? -1 : 1
  return (x: Model, y: Model): number => {
    const [v, w] = [readOf(x, sortPath, expand) ?? null, readOf(y, sortPath, expand) ?? null]
    if ((v === null) !== (w === null)) return v === null ? 1 : -1
    const [n, m] = [numberOf(v), numberOf(w)]
    if ((n === null) !== (m === null)) return n === null ? 1 : -1
    if (n !== null && m !== null && n !== m) return sign * (n - m)
    return sign * Buffer.compare(bytes(textOf(v)), bytes(textOf(w)))
  }
}

it('queries through refs answer what the model answers', { timeout: limitMs(180_000) }, async () => {
  const request = fc.record({
    expr,
    expand: fc.array(path.map(nameOf), { maxLength: 4 }),
    sort: fc.option(fc.record({ path, direction: fc.constantFrom('asc' as const, 'desc' as const) })),
    offset: fc.nat(3),
    limit: fc.option(fc.nat(20)),
  })
  let found = 0
  await fc.assert(
    fc.asyncProperty(request, async ({ expr, expand, sort, offset, limit }) => {
      const listed = new Set(expand)
      const matching = calls.filter((call) => holds(expr, call, listed) === true)
      found += matching.length
      const query = { $expr: wire(expr) }
      const sort_by = sort
        ? [
            { field: nameOf(sort.path), direction: sort.direction },
            { field: 'id', direction: 'asc' },
          ]
        : [
            { field: 'started_at', direction: 'desc' },
            { field: 'id', direction: 'asc' },
          ]
      const body = { project_id, query, expand_columns: expand }
      const lines = await server.list<{ id: string }>('/calls/stream_query', {
        ...body,
        sort_by,
        offset,
        limit,
        columns: ['id'],
        return_expanded_column_values: false,
      })
      const order = sort ? compareBy(sort.path, sort.direction === 'desc', listed) : (x: Model, y: Model) => y.at - x.at
      const ordered = [...matching].sort((x, y) => order(x, y) || (x.id < y.id ? -1 : 1))
      const page = ordered.slice(offset, limit === null ? undefined : offset + limit)
      // Values that are null or missing come last in no promised order: NULL, null and missing are one.
      const isLast = (id: string) =>
        sort !== null && (readOf(calls.find((call) => call.id === id) as Model, sort.path, listed) ?? null) === null
      const firm = (ids: string[]) => ids.map((id) => (isLast(id) ? 'last' : id))
      expect(firm(lines.map(({ id }) => id))).toEqual(firm(page.map(({ id }) => id)))
      const { count } = await server.send<{ count: number }>('/calls/query_stats', body)
      expect(count).toBe(matching.length)
    }),
    { numRuns: runs(12, 300) },
  )
  expect(found).toBeGreaterThan(10)
})
