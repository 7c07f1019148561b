// Shares of spans whose traces were new of late: counted without a look into the tables, and the same as with one.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import type { CallFragment, UsageEntry } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { createApplier } from '../../services/worker/apply-batch.ts'
import { createKnownCalls } from '../../services/worker/calls/known-calls.ts'
import { createUsageShares } from '../../services/worker/calls/usage-shares.ts'
import { clock, complete, end, start } from '../fixtures/call-world.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const look = 'usage-shares-spans'

/** Applies batches as a worker does that owns the tables, or one that does not. */
async function workerOf(ownsTables: boolean) {
  let statements: string[] = []
  const counted: Store = {
    ...store,
    rows(query, options) {
      statements.push(query.name)
      return store.rows(query, options)
    },
    command(query, options) {
      statements.push(query.name)
      return store.command(query, options)
    },
  }
  const known = createKnownCalls({ store })
  await known.fill()
  const applier = createApplier({
    store: counted,
    log: { committed: async () => [] },
    deadLetters: { add: async () => {} },
    newCalls: { known: ownsTables ? known : undefined },
    shares: createUsageShares(counted, ownsTables),
  })
  let offset = 0
  return {
    applier,
    /** @returns names of the statements, without those by which calls go in */
    async apply(parts: readonly CallFragment[]): Promise<string[]> {
      const writer = createCallWriter()
      for (const part of parts) writer.add(part)
      const texts = writer.take().flatMap(({ rows }) => (rows as Buffer).toString().trimEnd().split('\n'))
      offset++
      const rows = texts.map((text, rowIndex) => ({ partition: 0, offset, rowIndex, text: Buffer.from(text) }))
      const patchCount = parts.filter(({ kind }) => kind !== 'complete').length
      const at = { firstOffset: offset, lastOffset: offset, records: [], source: { bytes: [] }, oldestMs: 0 }
      statements = []
      await applier.apply({ topic: 'calls', partition: 0, rowCount: rows.length, patchCount, ...at }, rows)
      return statements.filter((name) => name.startsWith('usage-shares') || name === 'dirty-buckets-of-new')
    },
  }
}

const sharesOf = async (project: string) =>
  (
    await store.rows<{ id: string; nested: number; values: number[] }>({
      name: 'shares',
      sql: `SELECT id, nested, arrayMap(n -> toFloat64(n), [input, output, total, cache_read, cache_write, inside,
          billed_read, billed_write, billed_write_1h, more_output]) AS values
        FROM callhouse.usage_shares FINAL WHERE project_id = {project:String} ORDER BY id`,
      params: { project },
    })
  ).filter(({ nested }) => Number(nested) === 1)

const usageOf = (input: number, output: number): UsageEntry[] => [
  { model: 'm', requests: 1, input, output, total: input + output, cacheRead: 0, cacheWrite: 0 },
]
const idOf = (n: number): string => n.toString(16).padStart(16, '0')
const traceOf = (n: number): string => n.toString(16).padStart(32, 'f')
const otelDump = '{"name":"a"}'
type Given = {
  id: number
  parent?: number
  tokens?: [number, number]
  cached?: number
  trace?: number
  minute?: number
}
const spanOf = (projectId: string, { id, parent, tokens, cached = 0, trace = 1, minute = 0 }: Given): CallFragment =>
  complete(idOf(id), {
    projectId,
    traceId: traceOf(trace),
    parentId: parent === undefined ? '' : idOf(parent),
    startedUs: (Date.UTC(2026, 3, 1) / 60_000 + minute) * 60_000_000 + id,
    usage: tokens ? usageOf(...tokens) : [],
    summary: JSON.stringify({ usage: { m: { input_tokens: tokens?.[0], cached_tokens: cached } } }),
    otelDump,
  })

it('cost an insert where a span reports the sum of others, and a mark where that came earlier', async () => {
  const project = 'recent/cost'
  const { apply } = await workerOf(true)
  const mark = 'dirty-buckets-of-new'
  const models = [spanOf(project, { id: 2, parent: 1, tokens: [5, 1] }), spanOf(project, { id: 3, tokens: [1, 1] })]
  expect(await apply(models)).toEqual([mark])
  // as Batch processors send it, the agent last
  expect(await apply([spanOf(project, { id: 1, tokens: [9, 2] })])).toEqual([mark, 'usage-shares-insert'])
  expect(await sharesOf(project)).toEqual([{ id: idOf(1), nested: 1, values: [4, 1, 5, 0, 0, 0, 0, 0, 0, 0] }])
  const late = [spanOf(project, { id: 4, parent: 1, tokens: [3, 1], minute: 5 })]
  expect(await apply(late)).toEqual([mark, 'usage-shares-insert', mark])
  expect((await sharesOf(project))[0]?.values.slice(0, 3)).toEqual([1, 0, 1])
  expect(await apply([spanOf(project, { id: 5, parent: 1, minute: 5 })])).toEqual([mark])
  // what is billed beside the tokens is in the tables alone
  const billed = [spanOf(project, { id: 6, parent: 1, tokens: [1, 0], cached: 1 })]
  expect(await apply(billed)).toEqual([mark, 'usage-shares-bills', 'usage-shares-insert', mark])
})

it('are read where the trace was there before, another process writes it too, or a call of it came another way', async () => {
  const project = 'recent/read'
  const agentAndModel = (trace: number) => [
    spanOf(project, { id: trace * 16, tokens: [9, 2], trace }),
    spanOf(project, { id: trace * 16 + 1, parent: trace * 16, tokens: [5, 1], trace }),
  ]
  const more = (trace: number) => [spanOf(project, { id: trace * 16 + 2, parent: trace * 16, tokens: [1, 0], trace })]
  const first = await workerOf(true)
  for (const trace of [1, 2, 3, 4, 5]) expect(await first.apply(agentAndModel(trace))).not.toContain(look)
  const looked = async (of: { apply: typeof first.apply }, trace: number) =>
    (await of.apply(more(trace))).includes(look)
  expect(await looked(await workerOf(true), 1)).toBe(true)
  expect(await looked(await workerOf(false), 2)).toBe(true)
  await first.apply([{ kind: 'delete', projectId: project, id: idOf(3 * 16 + 1), clock: clock.next() }])
  expect(await looked(first, 3)).toBe(true)
  await first.apply([complete('019b0000-0000-7000-8000-000000000000', { projectId: project, traceId: traceOf(4) })])
  expect(await looked(first, 4)).toBe(true)
  await first.applier.exclusive(async () => {})
  expect(await looked(first, 5)).toBe(true)
  const inputs = Object.fromEntries(
    (await sharesOf(project)).map(({ id, values }) => [Number(`0x${id}`) >> 4, values[0]]),
  )
  expect(inputs).toEqual({ 1: 3, 2: 3, 3: 8, 4: 3, 5: 3 })
})

function givenOf(random: Random, round: number): Given[] {
  const sent: Given[] = []
  for (let n = 0; n < 30; n++) {
    const trace = 1 + random.below(6)
    const others = sent.filter((one) => one.trace === trace)
    const given: Given = { id: round * 1_000 + n + 1, trace, minute: random.below(3) }
    if (others.length > 0 && random.below(5) > 0) given.parent = random.pick(others).id
    if (random.below(3) > 0) given.tokens = [random.below(50), random.below(9)]
    if (random.below(6) === 0) given.cached = 1 + random.below(20)
    sent.push(given)
  }
  return sent
}

/** Batches of changes to a span that was sent: its end, or another of its trace that only begins. */
const changesTo: Record<string, (projectId: string, given: Given) => CallFragment[][]> = {
  nothing: () => [],
  removed: (projectId, { id }) => [[{ kind: 'delete', projectId, id: idOf(id), clock: clock.next() }]],
  'begun and ended': (projectId, { id, trace }) => [
    [start(idOf(90_000 + id), { projectId, traceId: traceOf(trace ?? 1), parentId: idOf(id), otelDump })],
    [end(idOf(90_000 + id), { projectId, usage: usageOf(7, 7) })],
  ],
}

it('are the same as with a look into the tables, in whatever batches spans come, begin or are deleted', async () => {
  const random = createRandom(7)
  const [fast, slow] = [await workerOf(true), await workerOf(false)]
  const statements: string[] = []
  for (const [round, change] of Object.values(changesTo).entries()) {
    const sent = givenOf(random, round)
    const batches: Given[][] = [[], [], []]
    for (const one of sent) batches[random.below(3)]?.push(one)
    const changed = random.pick(sent)
    const [a, b] = [`recent/fast-${round}`, `recent/slow-${round}`]
    for (const batch of batches) {
      if (batch.length > 0) {
        statements.push(...(await fast.apply(batch.map((one) => spanOf(a, one)))))
        await slow.apply(batch.map((one) => spanOf(b, one)))
      }
      if (batch !== batches[1]) continue
      for (const parts of change(a, changed)) await fast.apply(parts)
      for (const parts of change(b, changed)) await slow.apply(parts)
    }
    expect(await sharesOf(a), `round ${round}`).toEqual(await sharesOf(b))
    expect((await sharesOf(a)).length).toBeGreaterThan(2)
  }
  expect(statements.filter((name) => name === look).length).toBeLessThan(3)
})
