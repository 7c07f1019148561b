// Batches that the WebAssembly module reads give the same rows and answers as JavaScript alone, byte for byte.
// again: property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { noContent } from '../../services/content/content-port.ts'
import { createMasker } from '../../services/content/masking/masker.ts'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import type { Clock } from '../../services/core/clock/clock.ts'
import { asFault } from '../../services/core/http/errors.ts'
import { parseProjectId } from '../../services/core/ids.ts'
import type { RecordInput, RecordSplit } from '../../services/core/log/log.ts'
import { batchModule } from '../../services/ingest/calls/batch-module.ts'
import { fieldNames } from '../../services/ingest/calls/envelope.ts'
import { wireNames } from '../../services/ingest/calls/fragment-checks.ts'
import { createCallWriteRoutes } from '../../services/ingest/calls/routes.ts'
import type { CallWriteDeps } from '../../services/ingest/calls/write.ts'
import { batchBody, nearlyUsualBodies, usualBodies } from '../fixtures/batch-bodies.ts'
import { callId, createCallsWrite, otherId, startItem, traceId } from '../fixtures/calls-write.ts'
import { runs } from '../fixtures/runs.ts'

const contactRules = newMaskRules.parse({ sets: ['@contact'] })

/** Rules of e/p, and of e/q those of another version. */
const maskings = {
  none: {},
  detectors: { sets: ['@contact', '@payment', '@credentials'] },
  places: {
    sets: ['@contact'],
    rules: [
      { id: 'names', keys: ['question', 'thread_id', 'tokens'], action: 'drop' },
      { id: 'path', path: 'inputs.description', action: 'mask' },
      { id: 'words', pattern: 'and more\\w*', action: 'mask' },
    ],
  },
  whole: { rules: [{ id: 'path', path: 'output', action: 'mask' }] },
} as const
type MaskingName = keyof typeof maskings

function maskingsOf(name: MaskingName) {
  if (name === 'none') return noMaskings
  const scopes = [{ rules: newMaskRules.parse(maskings[name]) }]
  const maskers = new Map(['e/p', 'e/q'].map((project, n) => [project, createMasker(scopes, { version: n * 70_000 })]))
  return { of: (project: string) => maskers.get(project) }
}

type Sent = {
  whole: boolean
  body: Buffer
  split?: RecordSplit
  userId?: string
  depth?: number
  masking?: MaskingName
}

function contextOf({ body, userId = 'ada', depth = 512 }: Sent) {
  const project = (text: string) => {
    if (text === 'e/closed') throw Object.assign(new Error('closed'), { status: 403 })
    return parseProjectId(text)
  }
  const params = { entity: 'e', project: 'p' }
  return {
    requestId: 't',
    maxJsonDepth: depth,
    mayTakeLong: true,
    caller: { userId },
    body: { bytes: body },
    params,
    project,
  }
}

type Stored = { records: RecordInput[]; clock: bigint }

/** Routes over a log that keeps what is appended. */
function createEdge(edgeWasm: boolean, split: RecordSplit, masking: MaskingName) {
  const stored: Stored = { records: [], clock: 0n }
  const append = async (_topic: string, added: RecordInput[]) => {
    stored.records.push(...added.map((record) => ({ ...record, rows: Buffer.from(record.rows) })))
    return {}
  }
  const routes = createCallWriteRoutes({
    log: { append } as unknown as CallWriteDeps['log'],
    clock: { next: () => ++stored.clock } as Clock,
    content: noContent,
    maskings: maskingsOf(masking),
    wirePrefix: 'platform',
    wireAliases: true,
    edgeWasm,
    split,
  })
  return { stored, routes }
}
const edges = new Map<string, ReturnType<typeof createEdge>>()

/** The answer and the records of one request, with ids that were made for it left out. */
async function store(sent: Sent, edgeWasm: boolean) {
  const { split = {}, masking = 'none' } = sent
  const key = JSON.stringify([edgeWasm, split, masking])
  const edge = edges.get(key) ?? createEdge(edgeWasm, split, masking)
  edges.set(key, edge)
  const { stored, routes } = edge
  stored.records = []
  stored.clock = 1n << 60n
  const route = routes.find(({ name }) => name === (sent.whole ? 'calls.complete' : 'calls.upsert_batch'))
  const plainOf = (_: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value instanceof Map ? [...value].toSorted() : value
  const recordsNow = () =>
    stored.records
      .map(({ rows, ...rest }) => {
        const all = Object.entries({ ...rest, text: withoutOwn(rows.toString('latin1'), sent.body) })
        return JSON.stringify(
          all.toSorted(([one], [other]) => (one < other ? -1 : 1)),
          plainOf,
        )
      })
      .toSorted()
  try {
    const reply = await route?.handle(contextOf(sent) as never)
    if (reply === undefined || !('jsonText' in reply)) throw new Error('expected JSON text')
    return { answer: withoutOwn(String(reply.jsonText), sent.body), records: recordsNow() }
  } catch (error) {
    return { fault: asFault(error)?.body ?? String(error), records: recordsNow() }
  }
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const withoutOwn = (text: string, body: Buffer): string =>
  text.replace(uuids, (id) => (body.includes(id) ? id : 'made'))

const module = batchModule(fieldNames(wireNames('platform', true)))
/** Whether the module reads the body at all. */
const isTaken = (sent: Sent): boolean => module?.read(contextOf(sent) as never, sent.whole, Date.now()) != null

let compared = 0

async function compare(sent: Sent): Promise<void> {
  compared++
  const plain = await store(sent, false)
  // A call without an id gets one at random, and with it a partition.
  if (JSON.stringify(plain).includes('made') && sent.split?.partitions) await compare({ ...sent, split: {} })
  else expect(await store(sent, true)).toEqual(plain)
}

test('each value of each field by itself is read as by JavaScript', async () => {
  // Some kinds here, each of them in the deep tier.
  for (const { whole, text } of nearlyUsualBodies.filter((_, n) => n % runs(3, 1) === 0))
    for (const masking of ['none', 'places'] as const) await compare({ whole, body: Buffer.from(text), masking })
})

test('a usual body with one byte more or another one is read as by JavaScript', async () => {
  for (const { whole, text } of usualBodies) {
    expect(isTaken({ whole, body: Buffer.from(text) })).toBe(true)
    for (let at = 0; at <= text.length; at++) {
      // Commas everywhere: where one may stand depends on what is around it.
      const more = [...']}"\\ \n0'].filter((_, n) => (at + n) % runs(40, 4) === 0)
      for (const skipped of [0, 1])
        for (const byte of [',', ...more])
          await compare({ whole, body: Buffer.from(text.slice(0, at) + byte + text.slice(at + skipped)) })
    }
  }
})

test('random batches give the same rows and answers as from JavaScript alone', async () => {
  let taken = 0
  let all = 0
  await fc.assert(
    fc.asyncProperty(
      batchBody,
      fc.constantFrom<RecordSplit>(
        {},
        {},
        { partitions: 3 },
        { maxRecordBytes: 900 },
        { partitions: 2, maxRecordBytes: 1500 },
      ),
      fc.constantFrom('ada', '', 'é "x"\ud800'),
      fc.constantFrom(...Array(20).fill(512), 7, 6, 5),
      fc.constantFrom<MaskingName>('none', 'detectors', 'places', 'whole'),
      async ({ whole, text: body }, split, userId, depth, masking) => {
        const one: Sent = { whole, body: Buffer.from(body), split, userId, depth, masking }
        all++
        if (isTaken(one)) taken++
        await compare(one)
      },
    ),
    { numRuns: runs(120, 20_000) },
  )
  // The compared rows must be the module's work, and the rest must be small.
  expect(taken / all).toBeGreaterThan(0.15)
  expect(taken / all).toBeLessThan(0.9)
})

test('changed bytes, cut off bodies and bytes of no text are answered as by JavaScript', async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.nat(3),
    fc.constantFrom(0, 9, 10, 34, 44, 48, 58, 92, 91, 93, 117, 123, 125, 128, 195, 255),
  )
  const variant = fc.tuple(fc.array(change, { minLength: 1, maxLength: 2 }), fc.boolean())
  await fc.assert(
    fc.asyncProperty(batchBody, fc.array(variant, { minLength: 8, maxLength: 8 }), async (one, variants) => {
      for (const [changes, isCut] of variants) {
        let body = Buffer.from(one.text)
        for (const [at, length, byte] of changes) {
          const from = at % (body.length + 1)
          body = Buffer.concat([body.subarray(0, from), Buffer.of(byte), body.subarray(from + length)])
        }
        await compare({ whole: one.whole, body: isCut ? body.subarray(0, (changes[0]?.[0] ?? 0) % body.length) : body })
      }
    }),
    { numRuns: runs(15, 5_000) },
  )
})

test('the module does not take a body that is cut off at any byte', async () => {
  await fc.assert(
    fc.asyncProperty(batchBody, async ({ whole, text }) => {
      const body = Buffer.from(text)
      // Nothing but white space may be missing.
      const end = Buffer.byteLength(text.trimEnd())
      for (let length = 0; length < end; length++)
        if (isTaken({ whole, body: body.subarray(0, length) })) throw new Error(`${length} bytes are taken: ${text}`)
      for (let length = end; length < body.length; length++) await compare({ whole, body: body.subarray(0, length) })
    }),
    { numRuns: runs(8, 1_000) },
  )
})

const whole = (canary: string, model = canary) => {
  const call = `"project_id":"e/p","id":"${callId}","trace_id":"${traceId}","thread_id":"${canary}","op_name":"o","started_at":"2026-01-02T03:04:05Z","attributes":{},"inputs":{"a":"${canary}"},"output":"${canary}"`
  return Buffer.from(
    `{"batch":[{${call},"ended_at":"2026-01-02T03:04:06Z","summary":{"usage":{"${model}":{"requests":1}}}}]}`,
  )
}

test('a project that masks has its rules applied, whatever else is in the batch', async () => {
  const asked: string[] = []
  const of = (project: string) => {
    asked.push(project)
    return project === 'e/q' ? createMasker([{ rules: contactRules }]) : undefined
  }
  const edge = createCallsWrite({ maskings: { of } })
  const item = (project: string, id: string) =>
    startItem({ project_id: project, id, inputs: { mail: 'ann@example.com' } })
  for (const project of ['e/p', 'e/q'])
    await edge.post('/call/upsert_batch', { batch: [item('e/p', callId), item(project, otherId)] })
  expect(edge.rows().map(({ inputs }) => JSON.stringify(inputs).includes('ann@'))).toEqual([true, true, true, false])
  expect(asked).toContain('e/q')
})

test('what a batch holds is masked as by itself, refs in it too', async () => {
  const edge = createCallsWrite({ maskings: { of: () => createMasker([{ rules: contactRules }], { version: 9 }) } })
  const given = {
    mail: 'to ann@example.com',
    of: 'weave:///e/p/object/ann@example.com:v',
    plain: 'weave:///e/p/object/x:v',
  }
  const item = startItem({ inputs: given, op_name: 'weave:///e/p/op/ann@example.com:v' })
  await edge.post('/call/upsert_batch', { batch: [item] })
  await edge.post('/call/start', item.req)
  const [ofBatch, alone] = edge.rows().map(({ clock: _, ...row }) => row)
  const refs = ['weave:///e/p/object/[email]:v', given.plain]
  expect(ofBatch).toMatchObject({
    op_name: 'weave:///e/p/op/[email]:v',
    input_refs: refs,
    inputs: { mail: 'to [email]', of: refs[0], plain: refs[1] },
    mask: 9,
    mask_hits: 3,
  })
  expect(ofBatch).toEqual(alone)
})

test('a body that is cut off at any byte is refused and shows nothing of the one before', async () => {
  const long = whole('canary'.repeat(40))
  const body = whole('x')
  for (let length = 0; length <= body.length; length++) {
    expect(isTaken({ whole: true, body: long })).toBe(true)
    const one: Sent = { whole: true, body: body.subarray(0, length) }
    expect(isTaken(one)).toBe(length === body.length)
    const { records, ...answer } = await store(one, true)
    expect(JSON.stringify([answer, records])).not.toContain('canary')
    expect(records.length).toBe(length === body.length ? 1 : 0)
  }
})

test('a batch that is larger than the memory makes it grow, up to a bound', async () => {
  for (const [size, expected] of [
    [1, true],
    [900_000, true],
    [5_000_000, false],
  ] as const) {
    const one: Sent = { whole: true, body: whole('x\\"'.repeat(size / 9), 'm') }
    expect(isTaken(one)).toBe(expected)
    if (expected) await compare(one)
  }
})

test('thousands of items in one batch are read as by JavaScript', async () => {
  const { batch } = JSON.parse(whole('x').toString())
  const calls = (count: number) =>
    Buffer.from(
      JSON.stringify({
        batch: Array.from({ length: count }, (_, n) => ({ ...batch[0], id: `${n}`.padStart(16, '0') })),
      }),
    )
  for (const [count, expected] of [
    [4096, true],
    [4097, false],
  ] as const) {
    const one: Sent = { whole: true, body: calls(count), split: { partitions: 2 } }
    expect(isTaken(one)).toBe(expected)
    if (expected) await compare(one)
  }
})

test('so many bodies were compared', () => {
  expect(compared).toBeGreaterThanOrEqual(runs(3_000, 50_000))
})
