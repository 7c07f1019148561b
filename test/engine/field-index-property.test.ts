// Leaves give the answers that payloads give: generated documents and conditions, before, amid and after derivation.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import type { EvaluatedRow } from '../../services/query/calls/conditions/types.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, project, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

const random = createRandom(11)
const keys = ['a', 'b', 'a.b', '0', '', 'é', 'score', 'k"', '\\', 'deep']
const scalars = [
  '0',
  '1',
  '5',
  '5.0',
  '-0',
  '-0.0',
  '1e3',
  '0.1',
  '255',
  '1e21',
  '1e-7',
  '9007199254740993',
  '5e-324',
  '18446744073709551615',
  '-9223372036854775808',
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[1,{"a":5}]',
  '""',
  '"5"',
  '"5.0"',
  '"+5"',
  '"abc"',
  '"ABC"',
  '"null"',
  '"true"',
  '" 5"',
  '"inf"',
  '"1e3"',
  '"\\u00e9\\n"',
  '"\\u2028"',
  '"it\'s"',
  '"😀"',
  '"[1]"',
  JSON.stringify('long '.repeat(60)),
  JSON.stringify('é'.repeat(100)),
]

function value(depth: number): string {
  if (depth === 0 || random.chance(0.6)) return random.pick(scalars)
  if (random.chance(0.2)) return `[${value(depth - 1)},${value(depth - 1)}]`
  return object(depth - 1)
}
/** Now and then a key comes twice, or there is white space. */
function object(depth: number): string {
  const gap = random.chance(0.2) ? ' ' : ''
  const members = Array.from(
    { length: random.below(4) },
    () => `${gap}${JSON.stringify(random.pick(keys))}${gap}:${gap}${value(depth)}`,
  )
  return `{${members.join(',')}}`
}
const wide = `{${Array.from({ length: 80 }, (_, n) => `"k${n}":${n}`).join(',')},"a":5}`
const tooDeep = `${'{"deep":'.repeat(9)}5${'}'.repeat(9)}`
const inputs = (): string => {
  if (random.chance(0.05)) return wide
  return random.chance(0.05) ? `{"deep":${tooDeep}}` : object(3)
}
const output = (): string => (random.chance(0.5) ? `{"score":${value(1)},"a":${value(2)}}` : value(3))

/** The facts about a call for the evaluator in JS. */
type Model = { id: string; startedUs: number; inputs: string; output: string; hasEnd: boolean }
const models = new Map<string, Model>()
let count = 0

function more(calls: number): CallFragment[] {
  const parts: CallFragment[] = []
  for (let n = 0; n < calls; n++) {
    const id = `call-${String(random.below(1e6)).padStart(6, '0')}-${count++}`
    const startedUs = baseUs + random.below(6 * 3600) * 1_000_000 + random.below(3)
    const model = { id, startedUs, inputs: inputs(), output: output(), hasEnd: true }
    models.set(id, model)
    const kind = random.below(10)
    if (kind < 6) parts.push(complete(id, { startedUs, inputs: model.inputs, output: model.output }))
    else {
      parts.push(start(id, { startedUs, inputs: model.inputs }))
      if (kind < 9) parts.push(end(id, { endedUs: startedUs + random.below(7200) * 1e6, output: model.output }))
      else Object.assign(model, { hasEnd: false, output: '' })
    }
  }
  return parts
}

/** Parts of known calls once more, with other documents. */
function again(calls: number): CallFragment[] {
  return Array.from({ length: calls }, () => {
    const model = random.pick([...models.values()])
    const { id, startedUs } = model
    if (model.hasEnd && random.chance(0.5)) {
      model.output = output()
      return end(id, { endedUs: startedUs + random.below(7200) * 1e6, output: model.output })
    }
    model.inputs = inputs()
    return start(id, { startedUs, inputs: model.inputs })
  })
}

const field = (name: string) => ({ $getField: name })
const names = ['a', 'b', 'a\\.b', 'a.b', '0', 'a.0', 'b.0.a', 'é', 'score', 'deep.deep', 'a.', '\\', 'missing', 'k7']
const anyField = () => {
  const root = random.pick(['inputs', 'output'])
  return field(random.chance(0.06) ? root : `${root}.${random.pick(names)}`)
}
const literals: unknown[] = [
  '5',
  '5.0',
  'abc',
  'AB',
  '',
  'null',
  'true',
  5,
  5.5,
  0,
  1000,
  -1,
  0.1,
  true,
  false,
  null,
  1e21,
  255,
]
const literal = () => ({ $literal: random.pick(literals) })

function condition(depth: number): Record<string, unknown> {
  const kind = random.below(depth === 0 ? 7 : 10)
  if (kind < 2) return { $eq: [anyField(), literal()] }
  if (kind < 4) return { [random.pick(['$gt', '$gte', '$lt', '$lte'])]: [anyField(), literal()] }
  if (kind === 4) return { $in: [anyField(), Array.from({ length: 1 + random.below(3) }, literal)] }
  if (kind === 5)
    return {
      $contains: {
        input: anyField(),
        substr: { $literal: random.pick(['5', 'a', 'b', 'é', '1,', 'tr']) },
        case_insensitive: random.chance(0.5),
      },
    }
  if (kind === 6)
    return {
      $gte: [{ $convert: { input: anyField(), to: random.pick(['double', 'int', 'bool', 'string']) } }, literal()],
    }
  if (kind === 7) return { $not: [condition(depth - 1)] }
  return { [kind === 8 ? '$or' : '$and']: [condition(depth - 1), condition(depth - 1)] }
}

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world.remove())

function expected(request: object, page: { limit: number; offset: number }): string[] {
  const query = compileCallsQuery({ projectId: project, ...request })
  const rows: EvaluatedRow[] = [...models.values()].map(({ id, startedUs, inputs, output, hasEnd }) => ({
    id,
    started_at: startedUs,
    inputs,
    output: hasEnd ? output : '',
    attributes: '{}',
    summary: '',
    end_ver: hasEnd ? 1 : 0,
  }))
  const found = rows.filter((row) => [...query.header, ...query.payload].every((one) => one.evaluate(row)))
  found.sort((a, b) => query.sort.compare(a, b))
  return found.slice(page.offset, page.offset + page.limit).map((row) => String(row.id))
}

/** Asks for a page, for the number of all matches and, in another order, for the first of them. */
async function compare(asked: number): Promise<void> {
  for (let n = 0; n < asked; n++) {
    const sorted = random.chance(0.5)
    const query = sorted && random.chance(0.6) ? undefined : { $expr: condition(2) }
    const direction = random.pick(['asc', 'desc'])
    const sort_by = [{ field: sorted ? anyField().$getField : 'started_at', direction }]
    const request = { ...(query && { query }), sort_by }
    const page = { limit: 1 + random.below(12), offset: random.chance(0.5) ? 0 : random.below(12) }
    const lines = await world.list({ ...request, ...page, columns: ['id'] })
    const told = JSON.stringify(request)
    expect({ told, page, ids: lines.map((line) => line.id) }).toEqual({ told, page, ids: expected(request, page) })
    if (!query || n % 4 > 0) continue
    const counted = (await world.ask('/calls/query_stats', { query })).json as { count: number }
    expect({ query, count: counted.count }).toEqual({
      query,
      count: expected({ query }, { limit: 1e9, offset: 0 }).length,
    })
  }
}

const used = (name: string): number => world.statements.filter((statement) => statement === name).length

describe('the field index', () => {
  it('is not used before anything is indexed, and answers are right', async () => {
    await world.apply(more(250))
    await compare(runs(6, 12))
    expect(used('calls.field-index-candidates')).toBe(0)
  })
  it('changes no answer once everything is indexed', async () => {
    await world.derive()
    await compare(runs(16, 50))
    expect(used('calls.field-index-candidates')).toBeGreaterThan(runs(5, 10))
    expect(used('calls.field-index-order')).toBeGreaterThanOrEqual(runs(0, 3))
  })
  it('changes no answer while newer fragments are not indexed yet', async () => {
    await world.apply([...again(40), ...more(40)])
    await compare(runs(5, 30))
    expect(used('calls.field-index-dirty-calls')).toBeGreaterThan(runs(0, 10))
  })
  it('follows newer fragments once they are indexed', async () => {
    await world.derive()
    await compare(runs(4, 30))
  })
})
