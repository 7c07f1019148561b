// Annotation values against schemas of clients: patterns in their spellings, and schemas that would hold up the server.

import { describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createFeedbackWriteRoutes } from '../../services/ingest/feedback/routes.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { createCall } from '../fixtures/route-call.ts'

const config = { wirePrefix: 'wb', wireAliases: true, feedbackPrefix: 'platform', allowPrivateNetworks: false }
let schema: unknown = {}
const log = createMemoryLog()
const clock = createClock()
const call = createCall([
  ...createObjectWriteRoutes({ log, clock, binding: createNameBinding(async () => []), config }),
  ...createFeedbackWriteRoutes({
    maskings: noMaskings,
    log,
    clock,
    config,
    annotationSchema: async () => schema,
    checkQueue: async () => undefined,
    throwIfHeld: async () => undefined,
    throwUnlessOwn: async () => undefined,
    audit: noAudit,
    requestRemoval: async () => ({}),
  }),
])
const item = (value: unknown) => ({
  project_id: 'e/p',
  weave_ref: 'weave:///e/p/call/1',
  feedback_type: 'wandb.annotation.a',
  annotation_ref: `weave:///e/p/object/a:${'a'.repeat(43)}`,
  payload: { value },
})
const annotate = (field_schema: unknown, value: unknown) => {
  schema = field_schema
  return call('/feedback/create', { json: item(value) })
}
const statuses = async (field_schema: unknown, ...values: unknown[]) => {
  const found: number[] = []
  for (const value of values) found.push((await annotate(field_schema, value)).status)
  return found
}

describe('a schema with patterns', () => {
  const spec = (field_schema: unknown) =>
    call('/obj/create', {
      json: {
        obj: { project_id: 'e/p', object_id: 'a', val: { field_schema }, builtin_object_class: 'AnnotationSpec' },
      },
    })

  it.each<[string, string, string]>([
    ['^\\d{3}\\-\\d{4}$', '123-4567', '123_4567'],
    ['(?i)^(yes|no)$', 'YES', 'maybe'],
    ['^(?P<word>\\w+)\\Z', 'word', 'two words'],
  ])('%s is stored, and checked', async (pattern, fitting, other) => {
    expect((await spec({ type: 'string', pattern })).status).toBe(200)
    expect(await statuses({ type: 'string', pattern }, fitting, other)).toEqual([200, 400])
    const nested = { properties: { pattern: { items: { anyOf: [{ pattern }, { const: 1 }] } } } }
    expect(await statuses(nested, { pattern: [fitting, 1] }, { pattern: [1, other] })).toEqual([200, 400])
  })
  it('that only Python can check is stored, and not checked', async () => {
    const pattern = '^(?>a+)b$'
    expect((await spec({ pattern })).status).toBe(200)
    expect(await statuses({ type: 'string', pattern }, 'x', 1)).toEqual([200, 400])
    expect(await statuses({ patternProperties: { [pattern]: false }, additionalProperties: false }, { x: 1 })).toEqual([
      200,
    ])
  })
  it('of names are checked', async () => {
    const named = { patternProperties: { '^\\-': { type: 'number' } }, additionalProperties: false }
    expect((await spec(named)).status).toBe(200)
    expect(await statuses(named, { '-a': 1 }, { '-a': '1' }, { a: 1 })).toEqual([200, 400, 400])
  })
  it('keeps texts that are no patterns', async () => {
    expect(await statuses({ enum: [{ pattern: '\\-' }] }, { pattern: '\\-' }, { pattern: '-' })).toEqual([200, 400])
  })
  it('that are broken is refused', async () => {
    expect((await spec({ type: 'string', pattern: '(' })).status).toBe(400)
  })
})

describe('a schema that would take for ever', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  )
  it.each<[string, unknown, unknown]>([
    ['a pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    ['names', { patternProperties: { '^(a+)+$': true } }, { [`${'a'.repeat(40)}!`]: 1 }],
    ['pairs', { uniqueItems: true }, Array.from({ length: 100_000 }, (_, i) => i)],
    ['refs', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: true } }, 1],
  ])('is given up, others go on: %s', async (_, field_schema, value) => {
    const stuck = annotate(field_schema, value)
    let turns = 0
    const counting = setInterval(() => turns++, 5)
    expect(await stuck).toMatchObject({ status: 400, json: { reason: expect.stringContaining('takes more than') } })
    clearInterval(counting)
    expect(turns).toBeGreaterThan(3)
    expect(await statuses({ pattern: '^a+$' }, 'aaa', 'b')).toEqual([200, 400])
  })
  it('many times in one request is given up as a whole', async () => {
    // Each value fits after some ten milliseconds.
    schema = { pattern: '^(?:(a+)+b|.*)$' }
    const batch = Array.from({ length: 10_000 }, () => item(`${'a'.repeat(22)}!`))
    expect((await call('/feedback/batch/create', { json: { batch } })).status).toBe(400)
  })
  it('is not begun for a value that is too large to be stored', async () => {
    const { json } = await annotate({ pattern: '^(a+)+$' }, `${'a'.repeat(2 ** 20)}!`)
    expect(json).toMatchObject({ reason: expect.stringContaining('larger than') })
  })
})

describe('a schema without such keywords', () => {
  it('is checked as before, in batches of any length', async () => {
    schema = { type: 'integer', minimum: 1 }
    const batch = Array.from({ length: 2_000 }, (_, i) => item(i + 1))
    expect((await call('/feedback/batch/create', { json: { batch } })).status).toBe(200)
    expect((await call('/feedback/batch/create', { json: { batch: [...batch, item(0)] } })).status).toBe(400)
  })
})
