// Lists and maps of bodies: they tell what zod's own tell, stop after the first faults, and every route uses them.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { text } from '../../schemas/coerce.ts'
import { dictOf, list, maxFaults } from '../../schemas/collections.ts'
import { declaredRoutes } from '../../scripts/paths.ts'
import { checkedBody } from '../../services/core/http/details.ts'
import { Fault } from '../../services/core/http/errors.ts'

const plain = z.object({
  items: z.array(z.object({ names: z.array(text()).min(1), marks: z.record(z.string(), z.number()).nullish() })),
  last: z.string(),
})
const bounded = z.object({
  items: list(z.object({ names: list(text()).min(1), marks: dictOf(z.number()).nullish() })),
  last: z.string(),
})

const detailsOf = (schema: z.ZodType, value: unknown): unknown[] => {
  try {
    checkedBody(schema, value)
    return []
  } catch (error) {
    if (error instanceof Fault && error.status === 422) return error.body.detail as unknown[]
    throw error
  }
}

describe('a list or map', () => {
  it('gives what a plain one gives', () => {
    const item = { names: ['a\ud800', 'b'], marks: { x: 1, 'y z': 2 } }
    const value = { items: [item, { names: ['c'] }, { names: ['d'], marks: null }], last: 'z' }
    expect(bounded.parse(value)).toEqual(plain.parse(value))
    expect(z.toJSONSchema(bounded)).toEqual(z.toJSONSchema(plain))
  })

  it.each([
    [{ items: [{ names: [] }, { names: [0], marks: { x: 'q', y: 1 } }, {}, 5] }],
    [{ items: {}, last: 1 }],
    [{ items: [{ names: {}, marks: [] }, null], last: null }],
    [{}],
  ])('tells the same faults in the same order: %j', (value) => {
    expect(bounded.safeParse(value).error?.issues).toEqual(plain.safeParse(value).error?.issues)
    expect(detailsOf(bounded, value)).toEqual(detailsOf(plain, value))
  })

  it('looks at nothing behind the hundredth fault', () => {
    let seen = 0
    const none = z.unknown().refine(() => ++seen < 0)
    const many = Array.from({ length: 1000 }, () => 0)
    for (const [schema, value] of [
      [list(none), many],
      [list(list(none)), [many, many]],
      [dictOf(none), { ...many }],
      [dictOf(list(none)), { a: many, b: many }],
    ] as const) {
      seen = 0
      expect(detailsOf(schema, value)).toHaveLength(maxFaults)
      expect(seen).toBe(maxFaults)
    }
  })

  it('does not hide that a body is wrong when the faults are in one branch of a union', () => {
    const either = list(z.union([list(z.string()), list(z.number())]))
    const mixed = [...Array(200).fill('a'), 1]
    expect(detailsOf(either, [mixed])).not.toEqual([])
    expect(either.safeParse([Array(200).fill(1)]).success).toBe(true)
  })
})

it('a fault names no key at length', () => {
  const key = 'k'.repeat(1_000_000)
  const value = { [key]: Array.from({ length: 100 }, () => 0) }
  expect(JSON.stringify(detailsOf(dictOf(list(z.string())), value)).length).toBeLessThan(100_000)
  expect(JSON.stringify(detailsOf(z.strictObject({}), value)).length).toBeLessThan(1000)
})

type Def = Record<string, unknown> & { type: string }

/** Places of arrays and records that collect any number of faults. */
function unboundedIn(schema: z.core.$ZodType, at: string, seen = new Set<unknown>()): string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const def = schema._zod.def as unknown as Def
  const traits = [...schema._zod.traits]
  const element = (def.element ?? def.valueType) as z.core.$ZodType | undefined
  const isFaulty = element !== undefined && element._zod.def.type !== 'unknown'
  const own = isFaulty && !traits.some((trait) => trait.startsWith('Callhouse')) ? [at] : []
  const below = (value: unknown, name: string): string[] => {
    if (value instanceof z.core.$ZodType) return unboundedIn(value, `${at}.${name}`, seen)
    if (Array.isArray(value)) return value.flatMap((one, n) => below(one, `${name}${n}`))
    return typeof value === 'object' && value !== null && name === 'shape'
      ? Object.entries(value).flatMap(([key, one]) => below(one, key))
      : []
  }
  return [...own, ...Object.entries(def).flatMap(([name, value]) => below(value, name))]
}

it('every body is made of these lists and maps', () => {
  expect(unboundedIn(plain, 'plain')).toEqual([
    'plain.items',
    'plain.items.element.names',
    'plain.items.element.marks.innerType.innerType',
  ])
  const bodies = declaredRoutes().flatMap(({ name, body }) =>
    body.type === 'json' && body.check !== 'bytes' ? [[name, body.schema] as const] : [],
  )
  expect(bodies.length).toBeGreaterThan(50)
  expect(bodies.flatMap(([name, schema]) => unboundedIn(schema, name))).toEqual([])
})
