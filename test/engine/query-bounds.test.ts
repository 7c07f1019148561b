// Queries of any size are answered or refused with a reason: what the engine could not take never gets to it.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseUs, type CallWorld, complete, createCallWorld } from '../fixtures/call-world.ts'
import { runs } from '../fixtures/runs.ts'

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const times = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n))
const where = ($expr: object) => ({ query: { $expr } })
const sortedBy = (name: string) => ({ sort_by: [{ field: name, direction: 'asc' }] })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })
const bothSides = { $or: [eq('inputs.a', 1), eq('output.b', 2)] }

const refs = {
  opName: 'weave:///ent/proj/op/n8:1',
  inputRefs: ['weave:///q/8:1', 'weave:///r/8:1'],
  outputRefs: ['weave:///o/8:1', 'x weave:///o/9:1'],
}

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
  await world.apply([
    complete('few', { inputs: '{"a":1,"x":0.1}', output: '{"b":2}', ...refs }),
    complete('many', { startedUs: baseUs + 1_000_000, inputs: '{"a":2,"x":1e-300}' }),
    complete('odd', { startedUs: baseUs + 2_000_000, odd: true, inputs: '{"a":1e400,"x":5}' }),
  ])
  await world.derive()
})
afterAll(() => world.remove())

const ask = (body: object, path = '/calls/stream_query') => world.ask(path, { columns: ['id'], ...body })
const idsOf = async (body: object): Promise<string[]> => {
  const answer = await ask(body)
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, ''])
  return answer.lines.map((line) => line.id)
}
const refusal = async (body: object): Promise<[status: number, reason: string]> => {
  const { status, json } = await ask(body)
  return [status, (json as { reason?: string } | null)?.reason ?? '']
}

describe('lists', () => {
  it('of 20,000 numbers are answered', async () => {
    const numbers = [0.1, 1e-300, 5, ...times(19_997, (n) => n + 0.25)]
    const among = (name: string) => ({ $in: [field(name), numbers.map(literal)] })
    expect(await idsOf(where(among('inputs.x')))).toEqual(['few', 'many', 'odd'])
    expect(await idsOf(where({ $not: [among('inputs.x')] }))).toEqual([])
    expect(await idsOf({ ...where(bothSides), sort_by: [{ field: 'inputs.x', direction: 'desc' }] })).toEqual(['few'])
  })

  it('of 20,000 texts are answered', async () => {
    const texts = times(20_000, (n) => `${n},|\x1f`)
    expect(await idsOf(where({ $in: [field('inputs.x'), [...texts.slice(1), '5'].map(literal)] }))).toEqual(['odd'])
  })

  it('of thousands of prefixes are answered', async () => {
    const prefixes = (count: number) => ({
      op_names: times(count, (n) => `weave:///ent/proj/op/n${n}:*`),
      input_refs: times(count, (n) => `weave:///r/${n}:*`),
      output_refs: times(count, (n) => `weave:///o/${n}:*`),
    })
    for (const [name, list] of Object.entries(prefixes(runs(50, 1_000)))) {
      expect(await idsOf({ filter: { [name]: list } })).toEqual(['few'])
      expect(await idsOf({ filter: { [name]: list.slice(9) } })).toEqual([])
    }
    const by = ['inputs.a', 'output.b'].map((name) => ({ field: name, direction: 'asc' }))
    expect(await idsOf({ filter: prefixes(runs(150, 1_000)), ...where(bothSides), sort_by: by })).toEqual(['few'])
  })
})

describe('conditions', () => {
  it('of a thousand side by side are answered', async () => {
    expect(await idsOf(where({ $and: times(1_000, (n) => eq(`inputs.k${n}`, n)) }))).toEqual([])
  })

  it.each(["'", 'x', '\u{1F600}'].slice(runs(1, 0)))(
    'of a text of more than a mebibyte of %j are refused',
    async (char) => {
      const text = char.repeat(1_100_000 / char.length)
      expect(await refusal(where(eq('inputs.x', text)))).toEqual([400, expect.stringMatching(/longer than 1048576/)])
      for (const body of [{ filter: { op_names: [text] } }, where(eq(`inputs.${text}`, 1)), sortedBy(`inputs.${text}`)])
        expect((await refusal(body))[0]).toBe(400)
      expect(await idsOf(where(eq('inputs.x', text.slice(200_000))))).toEqual([])
    },
  )

  it('whose texts are too long together are refused', async () => {
    const many = { filter: { op_names: times(1_000, (n) => `${n}${'\\'.repeat(1_000)}`) } }
    expect(await refusal({ ...many, ...where(bothSides) })).toEqual([400, expect.stringMatching(/together/)])
    expect(await idsOf(many)).toEqual([])
  })
})

describe('orders', () => {
  it('may repeat a field, but not name too many', async () => {
    const by = (count: number, distinct: number) => ({
      sort_by: times(count, (n) => ({ field: `inputs.k${n % distinct}`, direction: 'asc' })),
    })
    expect(
      await idsOf({ sort_by: times(30_000, (n) => ({ field: 'inputs.a', direction: n === 0 ? 'desc' : 'asc' })) }),
    ).toHaveLength(3)
    expect(await idsOf(by(10_000, 50))).toHaveLength(3)
    expect(await refusal(by(51, 51))).toEqual([400, expect.stringMatching(/50/)])
    const deep = times(50, (n) => ({ field: `inputs.k${n}${'.a'.repeat(500)}`, direction: 'asc' }))
    expect((await refusal({ sort_by: deep }))[0]).toBe(400)
  })
})

describe('orders of threads', () => {
  it('may repeat a field', async () => {
    const sort_by = times(30_000, () => ({ field: 'turn_count', direction: 'asc' }))
    expect((await world.ask('/threads/stream_query', { sort_by })).status).toBe(200)
  })
})

describe('paths that are expanded', () => {
  it('may be thousands of segments deep', async () => {
    expect(await idsOf({ expand_columns: [`inputs${'.a'.repeat(20_000)}`] })).toHaveLength(3)
  })
  it('may repeat, but not be more than a thousand', async () => {
    const paths = (count: number, distinct: number) => ({
      expand_columns: times(count, (n) => `inputs.p${n % distinct}`),
    })
    const conditions = where({ $or: times(1_000, (n) => eq(`inputs.k${n}`, n)) })
    expect(await idsOf({ ...paths(runs(20_000, 100_000), 1_000), ...conditions })).toEqual([])
    expect(await refusal(paths(1_001, 1_001))).toEqual([400, expect.stringMatching(/1,?000/)])
  })
})

describe('numbers without a text in JSON', () => {
  const bound = (op: string, value: number) => ({ [op]: [field('inputs.x'), literal(value)] })
  it('are compared as what they are: infinities', async () => {
    const [huge, least] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    const all = ['few', 'many', 'odd']
    world.statements.length = 0
    expect(await idsOf(where({ $and: [bound('$lt', huge), bound('$gt', least)] }))).toEqual(all)
    expect(world.statements).toContain('calls.field-index-candidates')
    expect(await idsOf(where({ $and: [bound('$lt', least), bound('$gt', huge)] }))).toEqual([])
    expect(await idsOf(where({ $or: [bound('$lt', least), bound('$gt', huge)] }))).toEqual([])
    const either = { $or: [{ $and: [bound('$lt', huge), bound('$gt', least)] }, eq('output.b', 3)] }
    expect(await idsOf(where(either))).toEqual(all)
    expect(await idsOf(where({ $and: [{ $in: [field('inputs.x'), [huge, 5.5, 5].map(literal)] }] }))).toEqual(['odd'])
  })
})

describe('minutes whose payloads are not indexed yet', () => {
  const project_id = 'ent/minutes'
  const mark = (count: number, from: number) =>
    world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute, partition) SELECT '${project_id}', 1000000, toDateTime(60 * (number + ${from}), 'UTC'), 0
        FROM numbers(${count})`,
      params: {},
    })
  const found = async (): Promise<string[]> => {
    world.statements.length = 0
    expect(await idsOf({ project_id, ...where(eq('inputs.x', 7)) })).toEqual(['late'])
    return world.statements
  }

  it('are scanned when they are many', async () => {
    await world.apply([complete('late', { projectId: project_id, inputs: '{"x":7}' })])
    await mark(9_000, 0)
    expect(await found()).toContain('calls.field-index-candidates')
    await mark(130_000, 9_000)
    expect(await found()).not.toContain('calls.field-index-candidates')
    const by = { project_id, ...sortedBy('inputs.x'), limit: 1 }
    expect(await idsOf(by)).toEqual(['late'])
  })
})
