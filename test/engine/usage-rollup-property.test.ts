// Usage of generated traces against a brute-force sum over descendants: lost parents, cycles, late ends, deletes.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, start } from '../fixtures/call-world.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

let world: CallWorld
const forests: { shown: string; random: Random; all: ModelCall[]; gone: Set<string> }[] = []
beforeAll(async () => {
  world = await createCallWorld()
  for (let seed = 0; seed < runs(8, 120); seed++) {
    const random = createRandom(seed)
    const all = randomCalls(random, seed)
    const gone = new Set(all.filter(() => random.chance(0.1)).map((call) => call.id))
    forests.push({ shown: `seed ${seed}`, random, all, gone })
  }
  const parts = shuffled(
    createRandom(4711),
    forests.flatMap(({ random, all }) => partsOf(random, all)),
  )
  const third = Math.ceil(parts.length / 3)
  for (let n = 0; n < 3; n++) await world.apply(parts.slice(n * third, (n + 1) * third))
  await world.apply(forests.flatMap(({ gone }) => [...gone].map((id) => ({ ...end(id), kind: 'delete' as const }))))
})
afterAll(() => world.remove())

const models = ['m1', 'm2', 'Vendor/m3']
const fields = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

type Counts = number[]
type Plain = Map<string, Counts>
type ModelCall = { id: string; traceId: string; parentId: string; startedUs: number; isRunning: boolean; usage: Plain }

const usageRows = (usage: Plain) =>
  [...usage].map(([model, [requests = 0, input = 0, output = 0, total = 0, cacheRead = 0, cacheWrite = 0]]) => ({
    model,
    requests,
    input,
    output,
    total,
    cacheRead,
    cacheWrite,
  }))

const randomUsage = (random: Random): Plain =>
  new Map(
    models
      .filter(() => random.chance(0.4))
      .map((model) => [model, Array.from({ length: 6 }, () => (random.chance(0.4) ? 0 : random.below(100)))]),
  )

/** A forest of a few traces whose parents may be lost, later, themselves, or in a circle. */
function randomCalls(random: Random, seed: number): ModelCall[] {
  const size = 1 + random.below(30)
  const ids = Array.from({ length: size }, (_, n) => `s${seed}-${random.below(1e6)}-${n}`)
  return ids.map((id, n) => {
    const parentId = random.chance(0.2)
      ? ''
      : random.chance(0.1)
        ? `lost-${n}`
        : random.chance(0.85)
          ? (ids[random.below(n + 1)] as string)
          : random.pick(ids)
    return {
      id,
      parentId: parentId === id && random.chance(0.8) ? '' : parentId,
      traceId: `t${seed}-${random.below(2)}`,
      startedUs: baseUs + random.below(5) * 1_000_000,
      isRunning: random.chance(0.2),
      usage: randomUsage(random),
    }
  })
}

/** The parts of the calls: whole, or a start and an end, some ends twice. */
function partsOf(random: Random, calls: ModelCall[]): CallFragment[] {
  return calls.flatMap((call): CallFragment[] => {
    const { id, traceId, parentId, startedUs } = call
    const begun = { traceId, parentId, startedUs }
    if (call.isRunning) return [start(id, begun)]
    const usage = usageRows(call.usage)
    if (random.chance(0.5)) return [complete(id, { ...begun, usage })]
    const older = random.chance(0.3) ? [end(id, { usage: usageRows(randomUsage(random)) })] : []
    return [start(id, begun), ...older, end(id, { usage })]
  })
}

const shuffled = (random: Random, parts: CallFragment[]): CallFragment[] =>
  parts
    .map((part) => ({ part, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ part }) => part)

const totalOf = ([, prompt = 0, completion = 0, total = 0]: Counts): number => total || prompt + completion
const reported = ({ usage, isRunning }: ModelCall): Plain =>
  isRunning ? new Map() : new Map([...usage].map(([model, counts]) => [model, counts.with(3, totalOf(counts))]))

/** The definition: a call that is in no circle counts for each of its ancestors, up to the first one in a circle. */
function expected(calls: ModelCall[], isOwnOnly: boolean): Record<string, object> {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const isInCircle = (call: ModelCall): boolean => {
    const seen = new Set<string>()
    for (let at = byId.get(call.parentId); at && !seen.has(at.id); at = byId.get(at.parentId)) {
      if (at.id === call.id) return true
      seen.add(at.id)
    }
    return false
  }
  const own = (call: ModelCall): Plain => {
    const usage = reported(call)
    if (!isOwnOnly) return usage
    const children = calls.filter((child) => child.parentId === call.id && child.id !== call.id)
    return new Map(
      [...usage].map(([model, counts]) => [
        model,
        counts.map((count, n) =>
          Math.max(0, count - children.reduce((sum, child) => sum + (reported(child).get(model)?.[n] ?? 0), 0)),
        ),
      ]),
    )
  }
  const sums = new Map(calls.map((call) => [call.id, new Map<string, Counts>()]))
  const add = (id: string, usage: Plain) => {
    const sum = sums.get(id) as Plain
    for (const [model, counts] of usage)
      sum.set(
        model,
        counts.map((count, n) => count + (sum.get(model)?.[n] ?? 0)),
      )
  }
  for (const call of calls) {
    const usage = own(call)
    for (let at: ModelCall | undefined = call; at; at = byId.get(at.parentId)) {
      add(at.id, usage)
      if (isInCircle(at)) break
    }
  }
  const entryOf = (counts: Counts) => ({
    ...Object.fromEntries(fields.map((field, n) => [field, counts[n]])),
    prompt_tokens_total_cost: null,
    completion_tokens_total_cost: null,
    cache_read_input_tokens_total_cost: null,
    cache_creation_input_tokens_total_cost: null,
  })
  return Object.fromEntries(
    [...sums].map(([id, sum]) => [
      id,
      Object.fromEntries(
        [...sum].filter(([, counts]) => counts.some((n) => n !== 0)).map(([model, counts]) => [model, entryOf(counts)]),
      ),
    ]),
  )
}

const inOrder = (calls: ModelCall[]): ModelCall[] =>
  [...calls].sort((a, b) => a.startedUs - b.startedUs || (a.id < b.id ? -1 : 1))
const unfinished = (calls: ModelCall[]): string[] =>
  calls
    .filter((call) => call.isRunning)
    .map((call) => call.id)
    .sort()

describe.each([false, true])('own usage only: %s', (isOwnOnly) => {
  it('is the sum over all loaded descendants', async () => {
    const read = async (path: string, body: object) => {
      const { status, json } = await world.ask(path, body, {}, isOwnOnly ? 'ownOnly' : 'platform')
      expect(status).toBe(200)
      return json
    }
    for (const { random, all, gone, shown } of forests) {
      const calls = inOrder(all.filter((call) => !gone.has(call.id)))
      const traceIds = [...new Set(all.map((call) => call.traceId))]

      const limit = random.chance(0.5) ? 10_000 : random.below(all.length)
      const loaded = calls.slice(0, limit)
      expect(await read('/trace/usage', { filter: { trace_ids: traceIds }, limit }), shown).toEqual({
        call_usage: expected(loaded, isOwnOnly),
        unfinished_call_ids: unfinished(loaded),
      })

      const asked = all.filter(() => random.chance(0.3)).map((call) => call.id)
      const traces = new Set(calls.filter((call) => asked.includes(call.id)).map((call) => call.traceId))
      const inTraces = calls.filter((call) => traces.has(call.traceId)).slice(0, limit)
      const usage = expected(inTraces, isOwnOnly)
      expect(await read('/calls/usage', { call_ids: asked, limit }), shown).toEqual({
        call_usage: Object.fromEntries(asked.map((id) => [id, usage[id] ?? {}])),
        unfinished_call_ids: unfinished(inTraces),
      })
    }
  }, 60_000)
})

it('rolls up a chain of thousands of calls', async () => {
  const depth = 3_000
  const usage = [{ model: 'm', requests: 1, input: 0, output: 0, total: 0, cacheRead: 0, cacheWrite: 0 }]
  const idOf = (n: number) => `chain-${n}`
  await world.apply(
    Array.from({ length: depth }, (_, n) =>
      complete(idOf(n), { traceId: 'chain', parentId: n ? idOf(n - 1) : '', startedUs: baseUs + n, usage }),
    ),
  )
  const { json } = await world.ask('/calls/usage', { call_ids: [idOf(0), idOf(depth - 1)] })
  const answer = json as { call_usage: Record<string, { m: { requests: number } }> }
  expect(answer.call_usage[idOf(0)]?.m.requests).toBe(depth)
  expect(answer.call_usage[idOf(depth - 1)]?.m.requests).toBe(1)
}, 60_000)

it('holds what an answer may hold, and refuses more', async () => {
  const depth = 1_000
  const usage = (n: number) => [
    { model: `model-${n}`, requests: 1, input: 0, output: 0, total: 0, cacheRead: 0, cacheWrite: 0 },
  ]
  const idOf = (n: number) => `wide-${n}`
  await world.apply(
    Array.from({ length: depth }, (_, n) =>
      complete(idOf(n), { traceId: 'wide', parentId: n ? idOf(n - 1) : '', startedUs: baseUs + n, usage: usage(n) }),
    ),
  )
  const filter = { trace_ids: ['wide'] }
  const refused = await world.ask('/trace/usage', { filter })
  expect([refused.status, refused.json]).toEqual([400, { reason: expect.stringContaining('400000') }])
  expect((await world.ask('/trace/usage', { filter, limit: runs(300, 800) })).status).toBe(200)
  // Only the calls that are asked for keep what they passed on.
  const { json } = await world.ask('/calls/usage', { call_ids: [idOf(0)] })
  expect(Object.keys((json as { call_usage: Record<string, object> }).call_usage[idOf(0)] ?? {})).toHaveLength(depth)
}, 60_000)
