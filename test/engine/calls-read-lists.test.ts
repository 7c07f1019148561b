// tier: deep slow
// Lists of generated calls against a plain model: both orders, limits, offsets, filters, queries, sorts and counts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, type Line, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'

type Model = {
  id: string
  startedUs: number
  endedUs: number | null
  traceId: string
  parentId: string
  opName: string
  exception: string
  inputs: { n: number | string; tag: string }
  output: { score: number } | null
}

let world: CallWorld
let calls: Model[]
const minuteUs = 60e6
const random = createRandom(7)
const uuid = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const big = '123456789012345678901234567890'

function generate(count: number): { model: Model; parts: [CallFragment[], CallFragment[]] }[] {
  return Array.from({ length: count }, (_, n) => {
    const root = n - (n % 5)
    const startedUs = baseUs + Math.floor(n / 3) * 7 * minuteUs + random.below(3) * 1_000_000
    const isRunning = random.chance(0.1)
    const isOdd = random.chance(0.05)
    const inputs = { n: isOdd ? big : random.below(10), tag: random.pick(['red', 'green', 'blue']) }
    const output = { score: random.below(100) / 10 }
    const model: Model = {
      id: uuid(n),
      startedUs,
      endedUs: isRunning ? null : startedUs + random.below(5_000_000),
      traceId: uuid(100_000 + root),
      parentId: n === root ? '' : uuid(root),
      opName: random.pick(['weave:///ent/proj/op/a:1', 'weave:///ent/proj/op/a:2', 'plain']),
      exception: isRunning || random.chance(0.8) ? '' : 'failed',
      inputs,
      output: isRunning ? null : output,
    }
    const begun = {
      startedUs,
      traceId: model.traceId,
      parentId: model.parentId,
      opName: model.opName,
      inputs: `{"n":${inputs.n},"tag":"${inputs.tag}"}`,
    }
    const ended = {
      endedUs: model.endedUs ?? 0,
      exception: model.exception,
      // An odd output as well, next to a member that can be compared.
      output: isOdd ? `{"score":${output.score},"big":${big}}` : `{"score":${output.score}}`,
    }
    const odd = { odd: isOdd }
    if (isRunning) return { model, parts: [[start(model.id, { ...begun, ...odd })], []] }
    if (random.chance(0.5)) return { model, parts: [[complete(model.id, { ...begun, ...ended, ...odd })], []] }
    const late = end(model.id, { ...ended, ...odd })
    return { model, parts: [[start(model.id, { ...begun, ...odd })], [late]] }
  })
}

beforeAll(async () => {
  world = await createCallWorld()
  const generated = generate(600)
  calls = generated.map(({ model }) => model)
  await world.apply(generated.flatMap(({ parts }) => parts[0]))
  await world.apply(generated.flatMap(({ parts }) => parts[1]))
  await world.refresh()
  // After the counters: these minutes are dirty, and calls lie beyond every counted hour.
  const late = generate(40).map(({ model, parts }, n) => {
    const shift = n % 2 === 0 ? 3 * 86_400e6 : -3 * 86_400e6 + (n % 4) * 1_000_000
    const moved = { ...model, id: uuid(5_000 + n), startedUs: model.startedUs + shift, traceId: uuid(n), parentId: '' }
    const part = parts[0][0] as CallFragment & { kind: 'complete' | 'start' }
    return {
      model: moved,
      part: { ...part, ...moved, inputs: part.inputs, startedUs: moved.startedUs } as CallFragment,
      parts,
    }
  })
  for (const { model, part } of late) {
    // Lone ends stay with their first id, so that these calls are running.
    if (part.kind === 'start') Object.assign(model, { endedUs: null, output: null, exception: '' })
    else if (model.endedUs !== null) {
      Object.assign(part, { endedUs: model.endedUs, output: `{"score":${model.output?.score}}` })
    }
    calls.push(model)
  }
  await world.apply(late.map(({ part }) => part))
})
afterAll(() => world.remove())

type Pick = (call: Model) => boolean
const byTime = (a: Model, b: Model) => a.startedUs - b.startedUs || (a.id < b.id ? -1 : 1)
const newestFirst = (a: Model, b: Model) => byTime(b, a)
const field = (name: string) => ({ $getField: name })
const expr = (operation: object) => ({ query: { $expr: operation } })
const ids = (lines: readonly (Line | Model)[]): string[] => lines.map((line) => line.id)
const desc = [{ field: 'started_at', direction: 'desc' }]
const number = (call: Model) => (typeof call.inputs.n === 'number' ? call.inputs.n : Number(call.inputs.n))
const isUs = (us: number) => new Date(us / 1000).toISOString()

const selections: [name: string, body: () => object, pick: Pick][] = [
  ['everything', () => ({}), () => true],
  ['roots', () => ({ filter: { trace_roots_only: true } }), (call) => call.parentId === ''],
  ['an operation', () => ({ filter: { op_names: ['plain'] } }), (call) => call.opName === 'plain'],
  [
    'versions of an operation',
    () => ({ filter: { op_names: ['weave:///ent/proj/op/a:*'] } }),
    (call) => call.opName !== 'plain',
  ],
  [
    'a trace',
    () => ({ filter: { trace_ids: [calls[7]?.traceId, calls[12]?.traceId] } }),
    (call) => call.traceId === calls[7]?.traceId || call.traceId === calls[12]?.traceId,
  ],
  ['children', () => ({ filter: { parent_ids: [uuid(10)] } }), (call) => call.parentId === uuid(10)],
  [
    'ids',
    () => ({ filter: { call_ids: [uuid(3), uuid(4), 'none', uuid(5_003)] } }),
    (call) => [uuid(3), uuid(4), uuid(5_003)].includes(call.id),
  ],
  ['ids that do not exist', () => ({ filter: { call_ids: ['none'] } }), () => false],
  ['no thread', () => ({ filter: { thread_ids: [] } }), () => false],
  [
    'errors',
    () => expr({ $eq: [field('summary.weave.status'), { $literal: 'error' }] }),
    (call) => call.exception !== '',
  ],
  ['running', () => expr({ $eq: [field('ended_at'), { $literal: null }] }), (call) => call.endedUs === null],
  [
    'a span of time',
    () =>
      expr({
        $and: [
          { $gte: [field('started_at'), { $literal: isUs(baseUs + 100 * minuteUs) }] },
          { $lt: [field('started_at'), { $literal: isUs(baseUs + 500 * minuteUs) }] },
        ],
      }),
    (call) => call.startedUs >= baseUs + 100 * minuteUs && call.startedUs < baseUs + 500 * minuteUs,
  ],
  ['an input', () => expr({ $eq: [field('inputs.tag'), { $literal: 'red' }] }), (call) => call.inputs.tag === 'red'],
  ['a number', () => expr({ $gt: [field('inputs.n'), { $literal: 6.5 }] }), (call) => number(call) > 6.5],
  [
    'an output',
    () => expr({ $lt: [field('output.score'), { $literal: 1.5 }] }),
    (call) => call.output !== null && call.output.score < 1.5,
  ],
  ['no output', () => expr({ $eq: [field('output.score'), { $literal: '' }] }), (call) => call.output === null],
  [
    'an input and an output',
    () =>
      expr({
        $and: [
          { $eq: [field('inputs.tag'), { $literal: 'blue' }] },
          { $gte: [field('output.score'), { $literal: 5.5 }] },
        ],
      }),
    (call) => call.inputs.tag === 'blue' && call.output !== null && call.output.score >= 5.5,
  ],
  [
    'an input or an output',
    () =>
      expr({
        $or: [
          { $eq: [field('inputs.tag'), { $literal: 'blue' }] },
          { $gte: [field('output.score'), { $literal: 8.5 }] },
        ],
      }),
    (call) => call.inputs.tag === 'blue' || (call.output !== null && call.output.score >= 8.5),
  ],
  [
    'a column or an input',
    () =>
      expr({
        $or: [{ $eq: [field('op_name'), { $literal: 'plain' }] }, { $gt: [field('inputs.n'), { $literal: 8.5 }] }],
      }),
    (call) => call.opName === 'plain' || number(call) > 8.5,
  ],
  [
    'roots with an input',
    () => ({
      filter: { trace_roots_only: true },
      ...expr({ $not: [{ $eq: [field('inputs.tag'), { $literal: 'red' }] }] }),
    }),
    (call) => call.parentId === '' && call.inputs.tag !== 'red',
  ],
  [
    'a trace with an output',
    () => ({
      filter: { trace_ids: [calls[7]?.traceId] },
      ...expr({ $gte: [field('output.score'), { $literal: 0.5 }] }),
    }),
    (call) => call.traceId === calls[7]?.traceId && call.output !== null && call.output.score >= 0.5,
  ],
]

const latencyMs = (call: Model) =>
  call.endedUs === null ? null : Math.max(0, Math.floor((call.endedUs - call.startedUs) / 1000))

/** Null last in both directions, equal ones by id downwards. */
const byLatency = (direction: 'asc' | 'desc') => (a: Model, b: Model) => {
  const [x, y] = [latencyMs(a), latencyMs(b)]
  const byId = a.id < b.id ? 1 : -1
  if (x === null && y === null) return byId
  if (x === null) return 1
  if (y === null) return -1
  return (direction === 'asc' ? x - y : y - x) || byId
}

describe.each(selections)('%s', (_, body, pick) => {
  const expected = () => calls.filter(pick)

  it('is listed in both orders', async () => {
    expect(ids(await world.list({ ...body() }))).toEqual(ids(expected().sort(byTime)))
    expect(ids(await world.list({ ...body(), sort_by: desc, columns: ['id'] }))).toEqual(
      ids(expected().sort(newestFirst)),
    )
  })
  it('is cut by limit and offset', async () => {
    for (const [limit, offset] of [
      [0, 0],
      [1, 0],
      [7, 3],
      [40, 35],
      [10, 620],
      [10, 5_000],
    ] as const) {
      const page = { limit, offset, columns: ['id'] }
      expect(ids(await world.list({ ...body(), ...page }))).toEqual(
        ids(
          expected()
            .sort(byTime)
            .slice(offset, offset + limit),
        ),
      )
      expect(ids(await world.list({ ...body(), ...page, sort_by: desc }))).toEqual(
        ids(
          expected()
            .sort(newestFirst)
            .slice(offset, offset + limit),
        ),
      )
    }
  })
  it('is counted', async () => {
    const n = expected().length
    const count = async (limit?: number) => (await world.ask('/calls/query_stats', { ...body(), limit })).json
    expect(await count()).toEqual({ count: n, has_more: false, total_storage_size_bytes: null })
    expect(await count(3)).toEqual({ count: Math.min(n, 3), has_more: n >= 3, total_storage_size_bytes: null })
    expect(await count(10_000)).toEqual({ count: n, has_more: false, total_storage_size_bytes: null })
  })
  it('is sorted by a column, null last', async () => {
    for (const direction of ['asc', 'desc'] as const) {
      const sort_by = [{ field: 'summary.weave.latency_ms', direction }]
      const sorted = expected().sort(byLatency(direction))
      expect(ids(await world.list({ ...body(), sort_by, columns: ['id'] }))).toEqual(ids(sorted))
      expect(ids(await world.list({ ...body(), sort_by, limit: 9, offset: 4 }))).toEqual(ids(sorted.slice(4, 13)))
    }
  })
})

describe('sorting by payloads', () => {
  it('puts numbers in order and missing values last', async () => {
    const sort_by = [{ field: 'output.score', direction: 'desc' as const }]
    const known = calls.filter((call) => typeof call.inputs.n === 'number')
    const lines = await world.list({ sort_by, columns: ['output'] })
    const odd = new Set(calls.filter((call) => typeof call.inputs.n !== 'number').map((call) => call.id))
    const sorted = known.sort((a, b) => (b.output?.score ?? -1) - (a.output?.score ?? -1) || (a.id < b.id ? 1 : -1))
    expect(ids(lines.filter((line) => !odd.has(line.id)))).toEqual(ids(sorted))
    expect(lines).toHaveLength(calls.length)
  })
  it('takes keys of both sides', async () => {
    const sort_by = [
      { field: 'inputs.tag', direction: 'asc' },
      { field: 'output.score', direction: 'asc' },
    ]
    const lines = await world.list({ sort_by, limit: 1_000 })
    const known = (line: Line) => typeof line.inputs.n === 'number' && line.inputs.n < 100
    const keys = lines.filter(known).map((line) => `${line.inputs.tag} ${line.output?.score?.toFixed(1) ?? '~'}`)
    expect(keys).toEqual([...keys].sort())
    expect(lines).toHaveLength(calls.length)
  })
})

describe('ties and single terms', () => {
  it('orders equal times by id in the direction of started_at', async () => {
    const asked = [
      { field: 'started_at', direction: 'asc' },
      { field: 'id', direction: 'desc' },
    ]
    const sorted = [...calls].sort((a, b) => a.startedUs - b.startedUs || (a.id < b.id ? 1 : -1))
    expect(ids(await world.list({ sort_by: asked, limit: 300, offset: 10, columns: ['id'] }))).toEqual(
      ids(sorted.slice(10, 310)),
    )
  })
  it('answers everything when no order is asked for', async () => {
    expect(ids(await world.list({ sort_by: [], columns: ['id'] })).sort()).toEqual(ids(calls).sort())
  })
})

describe('total storage size', () => {
  it('is the size of the traces whose roots match', async () => {
    const total = async (filter: object, more: object = {}) => {
      const asked = { filter, include_total_storage_size: true, ...more }
      const { json } = await world.ask('/calls/query_stats', asked)
      return (json as { total_storage_size_bytes: number }).total_storage_size_bytes
    }
    const trace = calls[10]?.traceId as string
    const lines = await world.list({ filter: { trace_ids: [trace] }, include_storage_size: true })
    const sum = lines.reduce((all, line) => all + line.storage_size_bytes, 0)
    expect(lines).toHaveLength(5)
    expect(await total({ trace_ids: [trace] })).toBe(sum)
    expect(await total({ call_ids: [uuid(10)] })).toBe(sum)
    expect(await total({ call_ids: [uuid(11)] })).toBe(0)
    expect(await total({ call_ids: ['none'] })).toBe(0)
    const all = await world.list({ include_storage_size: true, columns: ['id'] })
    expect(await total({})).toBe(all.reduce((bytes, line) => bytes + line.storage_size_bytes, 0))
  })

  it('counts a call in the trace that it is in now', async () => {
    const projectId = 'ent/moved'
    const traces = ['0a', '0b'].map((end) => `00000000-0000-7000-8000-0000000000${end}`) as [string, string]
    const kid = { projectId, parentId: 'root', inputs: '{"text":"0123456789"}' }
    const roots = traces.map((traceId, n) => complete(uuid(90_000 + n), { projectId, traceId }))
    await world.apply([...roots, complete(uuid(90_009), { ...kid, traceId: traces[0] })])
    const sizes = async () => {
      const { json } = await world.ask('/calls/query_stats', {
        project_id: projectId,
        include_total_storage_size: true,
      })
      const asked = { project_id: projectId, filter: { trace_roots_only: true } }
      const lines = await world.list({ ...asked, include_total_storage_size: true, columns: ['id'] })
      const each = lines.sort((a, b) => (a.id < b.id ? -1 : 1)).map((line) => line.total_storage_size_bytes as number)
      return { all: (json as { total_storage_size_bytes: number }).total_storage_size_bytes, each }
    }
    const { all, each } = await sizes()
    expect(each[0]).toBeGreaterThan(each[1] as number)
    await world.apply([start(uuid(90_009), { ...kid, traceId: traces[1] })])
    expect(await sizes()).toEqual({ all, each: [each[1], each[0]] })
  })
})
