// Bills of generated usage objects: the engine's reading of them against a plain one, and every answer against the bill.
// again: property
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import type { CallFragment, UsageEntry } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { costsRecord } from '../../services/events/costs.ts'
import { topics } from '../../services/events/registry.ts'
import { findingsAt } from '../../services/ingest/calls/field-checks.ts'
import { checkSummary } from '../../services/ingest/calls/summary-check.ts'
import { mayBeBilled } from '../../services/worker/calls/billed-rows.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, project, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world.remove())

const random = createRandom(20_261_122)
type Json = Record<string, unknown>

/** Keys that edges take whole numbers for, and all others that a bill looks at. */
const counts = ['prompt_tokens', 'input_tokens', 'completion_tokens', 'output_tokens', 'total_tokens', 'requests']
const cached = ['cache_read_input_tokens', 'cache_creation_input_tokens']
const details = [
  'prompt_tokens_details.cached_tokens',
  'prompt_tokens_details.cache_write_tokens',
  'input_tokens_details.cached_tokens',
  'input_tokens_details.cache_write_tokens',
  'input_token_details.cached_tokens',
  'input_token_details.cache_read',
  'input_token_details.cache_creation',
  'cached_content_token_count',
  'prompt_cache_hit_tokens',
  'cached_tokens',
  'thoughts_tokens',
  'thoughts_token_count',
  'completion_tokens_details.reasoning_tokens',
  'output_tokens_details.reasoning_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
]

const plain = () => random.pick(['0', '1', '7', '40', '500', '5000', '5000', 'null'])
const strange = ['-3', '1.5', '5.0', '1e3', '"12"', '"x"', '""', 'false', '{}', '[1]', '1000000000000001', '-0']
/** Beyond what the engine's JSON can hold: an edge marks such a text. */
const huge = ['123456789012345678901234', '1e400', '-1.5e999', '99999999999999999999']

function textOf(fields: Map<string, string>): string {
  const below = new Map<string, string[]>()
  for (const [path, value] of fields) {
    const [key = '', inner] = path.split('.')
    const text = inner === undefined ? value : `${JSON.stringify(inner)}:${value}`
    below.set(key, [...(below.get(key) ?? []), text])
  }
  const members = [...below].map(
    ([key, values]) => `${JSON.stringify(key)}:${values[0]?.includes('":') ? `{${values.join(',')}}` : values[0]}`,
  )
  return `{${members.join(',')}}`
}

/** A usage object of a few keys; `isWild`: any value anywhere. */
function usageText(isWild: boolean): string {
  const fields = new Map<string, string>()
  const value = () => (isWild && random.chance(0.3) ? random.pick(random.chance(0.2) ? huge : strange) : plain())
  for (const key of counts) if (random.chance(0.5)) fields.set(key, value())
  for (const key of cached) if (random.chance(0.3)) fields.set(key, value())
  for (const key of details)
    if (random.chance(0.15)) fields.set(key, random.chance(0.2) ? random.pick(strange) : plain())
  return textOf(fields)
}

/** A count as it is read: the whole part of a number or of its text; 0 when it is none of 64 bits. */
function intOf(value: unknown): number {
  const isText = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
  const number = typeof value === 'number' || typeof value === 'boolean' || isText ? Number(value) : 0
  return Number.isFinite(number) && Math.abs(number) < 2 ** 63 ? Math.trunc(number) + 0 : 0
}

/**
 * The bill by the rules of docs/costs.md: inside, apart, read, written, written for an hour, output beside the count.
 */
function billOf(usage: Json): number[] {
  const at = (path: string) => {
    const [key = '', inner] = path.split('.')
    const outer = usage[key]
    if (inner === undefined) return intOf(outer)
    return typeof outer === 'object' && outer !== null && !Array.isArray(outer) ? intOf((outer as Json)[inner]) : 0
  }
  const first = (...paths: string[]) => paths.map(at).find((n) => n >= 1 && n <= 1e15) ?? 0
  const input = [at('prompt_tokens'), at('input_tokens')].reduce((sum, n) => sum + (Math.abs(n) < 1e15 ? n : 0), 0)
  const output = at('completion_tokens') + at('output_tokens')
  const read = first(
    'cache_read_input_tokens',
    'prompt_tokens_details.cached_tokens',
    'input_tokens_details.cached_tokens',
    'input_token_details.cached_tokens',
    'input_token_details.cache_read',
    'cached_content_token_count',
    'prompt_cache_hit_tokens',
    'cached_tokens',
  )
  const written = first(
    'cache_creation_input_tokens',
    'prompt_tokens_details.cache_write_tokens',
    'input_tokens_details.cache_write_tokens',
    'input_token_details.cache_creation',
  )
  const anHour = Math.min(written, Math.max(0, at('cache_creation.ephemeral_1h_input_tokens')))
  const isShaped = at('prompt_tokens') === 0 && at('input_tokens') > 0 && cached.some((key) => at(key) > 0)
  const inside = input < 0 ? input : read + written > input ? 0 : read + written
  const thoughts = first('thoughts_tokens', 'thoughts_token_count')
  const reasoning = first('completion_tokens_details.reasoning_tokens', 'output_tokens_details.reasoning_tokens')
  const total = at('total_tokens')
  const beside = total === input + output ? 0 : thoughts || (total === input + output + reasoning ? reasoning : 0)
  return [inside, isShaped && read + written <= input ? read + written : 0, read, written - anHour, anHour, beside]
}

function writtenRows(parts: CallFragment[]): Buffer[] {
  const writer = createCallWriter({ sizeHintBytes: 2 ** 20 })
  for (const part of parts) writer.add(part)
  const lines = writer.take().flatMap(({ rows }) => rows.toString().trimEnd().split('\n'))
  return lines.map((line) => Buffer.from(line))
}

/** A JSON array at a place of an object would be read by position: edges refuse it there, and no provider sends it. */
const isFaithful = (text: string) => !/_details":\[|"cache_creation":\[/.test(text)

it('the engine reads usage objects as the rules say, whatever they hold', async () => {
  const texts = Array.from({ length: runs(150, 10_000) }, () => usageText(true)).filter(isFaithful)
  const parts = texts.map((text, n) => {
    const isOdd = huge.some((value) => text.includes(value)) || n % 10 === 0
    return complete(`wild-${n}`, { startedUs: baseUs + n, odd: isOdd, summary: `{"usage":{"m":${text}},"n":${n}}` })
  })
  await world.apply(parts)
  const rows = await world.store.rows<{ id: string; bill: number[][] }>({
    name: 'test.bills',
    sql: `SELECT id, arrayMap(b -> arrayMap(n -> toFloat64(n), [b.2, b.3, b.4, b.5, b.6, b.7]), billed_usage) AS bill
      FROM callhouse.payloads WHERE startsWith(id, 'wild-')`,
    params: {},
  })
  // A batch without any such row goes in with empty columns.
  const written = writtenRows(parts)
  for (const { id, bill } of rows)
    if (bill.length > 0) expect([id, mayBeBilled(written[Number(id.slice(5))] as Buffer)]).toEqual([id, true])
  expect(written.filter((row) => !mayBeBilled(row)).length).toBeGreaterThan(texts.length / 20)
  const found = new Map(rows.map(({ id, bill }) => [id, bill[0] ?? [0, 0, 0, 0, 0, 0]]))
  for (const [n, text] of texts.entries()) {
    const bill = billOf(JSON.parse(text) as Json)
    // Where nothing was cached and nothing thought the number of the model is not kept.
    const expected = bill.some((one, at) => at !== 1 && one !== 0) ? bill : [0, 0, 0, 0, 0, 0]
    expect({ text, bill: found.get(`wild-${n}`) }).toEqual({ text, bill: expected })
  }
})

const prices = {
  'claude-a': { provider: 'default', unit: [3, 15, 0.3, 3.75, 6] },
  'gpt-a': { provider: 'default', unit: [2, 8, 0.5, 2.5, 2.5] },
  'own-a': { provider: 'Anthropic', unit: [1, 5, 0.1, 1.25, 2] },
} as const
type Model = keyof typeof prices
const models = Object.keys(prices) as Model[]
const isAnthropic = (model: Model) => model !== 'gpt-a'

type Made = { id: string; model: Model; op: string; startedUs: number; bill: number[] }

/** @param isPlain has nothing billed beside its tokens */
const usageOfCall = (isPlain: boolean): string =>
  isPlain ? JSON.stringify({ prompt_tokens: random.below(900), completion_tokens: random.below(90) }) : usageText(false)

/** A call, whole or in two parts, by an SDK that adds cached tokens to the input, as a span, or by anybody. */
function call(id: string, startedUs: number, isPlain: boolean): { parts: CallFragment[]; made: Made } {
  const model = random.pick(models)
  const text = usageOfCall(isPlain)
  const op = random.pick(['ask', 'answer'])
  const usage = JSON.parse(text) as Json
  const source = random.pick(['plain', 'plain', 'sdk', 'old sdk', 'span'])
  const version = source === 'sdk' ? '0.54.1' : '0.53.9'
  const isSdk = source.endsWith('sdk')
  const attributes = isSdk ? `{"weave":{"source":"python-sdk","client_version":"${version}"}}` : '{}'
  const summary = { usage: { [model]: usage } }
  const columns: UsageEntry[] = checkSummary(findingsAt(), summary).usage
  const begun = { startedUs, opName: op, attributes, otelDump: source === 'span' ? '{"span":1}' : '' }
  const ended = { endedUs: startedUs + 5_000_000, usage: columns, summary: JSON.stringify(summary) }
  const parts = random.chance(0.4) ? [start(id, begun), end(id, ended)] : [complete(id, { ...begun, ...ended })]
  const [inside = 0, apart = 0, read = 0, written = 0, anHour = 0, beside = 0] = billOf(usage)
  const isCounted = source === 'sdk' || source === 'span'
  const [input, output, readPrice, writePrice, hourPrice] = prices[model].unit
  const [entry] = columns
  const uncached = (entry?.input ?? 0) - inside + (isAnthropic(model) && !isCounted ? apart : 0)
  const bill = [
    uncached * input,
    ((entry?.output ?? 0) + beside) * output,
    read * readPrice,
    written * writePrice + anHour * hourPrice,
  ]
  return { parts, made: { id, model, op, startedUs, bill } }
}

it('every answer tells the bill of each call, live and from statistics', async () => {
  const clock = createClock()
  const row = costsRecord(
    project as ProjectId,
    models.map((llmId) => {
      const [promptPrice, completionPrice, cacheReadPrice, cacheWritePrice] = prices[llmId].unit
      const id = `0190a000-0000-7000-8000-00000000000${models.indexOf(llmId)}`
      const priced = {
        id,
        clock: clock.next(),
        userId: 'ann',
        llmId,
        providerId: prices[llmId].provider,
        effectiveUs: 0,
      }
      const units = { promptUnit: 'USD', completionUnit: 'USD' }
      return { ...priced, ...units, promptPrice, completionPrice, cacheReadPrice, cacheWritePrice }
    }),
  ).rows
  await world.store.insert(topics.costs, { bytes: [row] })
  // Three calls a minute; of some minutes no call has anything billed beside its tokens.
  const isPlain = (n: number) => Math.floor(n / 3) % 4 < 2
  const startUs = baseUs + 7_200e6
  const calls = Array.from({ length: runs(36, 480) }, (_, n) => call(`bill-${n}`, startUs + n * 20_000_000, isPlain(n)))
  const [early, late] = [calls.filter((_, n) => n % 3 > 0), calls.filter((_, n) => n % 3 === 0)]
  await world.apply(early.flatMap(({ parts }) => parts))
  await world.refresh()
  for (const { parts } of late) if (parts.length > 1) await world.apply(parts.slice(0, 1))
  await world.apply(late.flatMap(({ parts }) => parts.slice(-1)))

  const check = async () => {
    const range = { start: baseUs / 1e6 + 7200, end: baseUs / 1e6 + 7200 + 20 * calls.length + 60 }
    const usage_metrics = ['input_cost', 'output_cost', 'total_cost'].map((metric) => ({ metric }))
    const filter = { call_ids: calls.map(({ made }) => made.id) }
    const records = await world.list({ include_costs: true, filter })
    const every = { include_costs: true, filter, limit: calls.length }
    const usage = (await world.ask('/trace/usage', every)).json as { call_usage: Record<string, Json> }
    const names = ['prompt', 'completion', 'cache_read_input', 'cache_creation_input'].map(
      (n) => `${n}_tokens_total_cost`,
    )
    const close = (numbers: number[]) => numbers.map((n) => expect.closeTo(n, 6))
    const costsIn = (entry: Json | undefined) => names.map((name) => entry?.[name] ?? 0)
    for (const { made } of calls) {
      const record = records.find(({ id }) => id === made.id)
      expect([made.id, costsIn(record?.summary.weave.costs?.[made.model])]).toEqual([made.id, close(made.bill)])
      const entry = usage.call_usage[made.id]?.[made.model] as Json | undefined
      expect([made.id, costsIn(entry)]).toEqual([made.id, close(made.bill)])
    }
    // Within two minutes, whose other calls the statistics hold too.
    const cut = { granularity: 3600, start: range.start + 10, end: range.end - 90 }
    for (const more of [{ granularity: 3600 }, { granularity: 60 }, { granularity: 3600, filter }, cut]) {
      const { json } = await world.ask('/calls/stats', { ...range, usage_metrics, ...more })
      const rows = (json as { usage_buckets: Record<string, number>[] }).usage_buckets
      for (const model of models) {
        const own = rows.filter((one) => (one.model as unknown) === model)
        const sums = ['input', 'output', 'total'].map((of) =>
          own.reduce((sum, one) => sum + (one[`sum_${of}_cost`] ?? 0), 0),
        )
        const asked = more === cut ? calls.slice(1, -1) : calls
        const bills = asked.filter(({ made }) => made.model === model).map(({ made }) => made.bill)
        const sumOf = (...at: number[]) =>
          bills.reduce((sum, bill) => sum + at.reduce((all, n) => all + (bill[n] ?? 0), 0), 0)
        expect([model, more, sums]).toEqual([model, more, close([sumOf(0), sumOf(1), sumOf(0, 1, 2, 3)])])
      }
    }
  }
  /** Costs by op and model of some minutes, with and without what stands beside them. */
  const checkTotals = async () => {
    for (let n = 0; n < runs(4, 120); n++) {
      const fromUs = startUs + random.below(calls.length / 12 - 1) * 240e6 + random.pick([0, -20e6, 30e6, 60e6])
      const beforeUs = fromUs + random.pick([60e6, 120e6, 90e6, 240e6])
      const group_by = [['model'], ['op_name'], ['model'], ['model', 'op_name']][n % 4] as string[]
      const asked = { start: fromUs / 1e6, end: beforeUs / 1e6, bucket: random.pick([null, 60]), group_by, top: 100 }
      const metrics = [{ field: 'total_cost' }, ...random.pick([[], [{ field: 'input_tokens' }, { field: 'calls' }]])]
      const { json } = await world.ask('/calls/aggregate', { ...asked, metrics })
      const { groups } = json as { groups: { keys: string[]; total: Record<string, number> }[] }
      const want = new Map<string, number>()
      for (const { made } of calls) {
        if (made.startedUs < fromUs || made.startedUs >= beforeUs) continue
        const key = group_by.map((name) => (name === 'model' ? made.model : made.op)).join(' ')
        want.set(key, (want.get(key) ?? 0) + made.bill.reduce((sum, one) => sum + one, 0))
      }
      const told = Object.fromEntries(groups.map(({ keys, total }) => [keys.join(' '), total['total_cost.sum']]))
      expect([asked, Object.keys(told).sort()]).toEqual([asked, [...want.keys()].sort()])
      for (const [key, cost] of want) expect([asked, key, told[key]]).toEqual([asked, key, expect.closeTo(cost, 6)])
    }
  }
  await check()
  await checkTotals()
  await world.refresh()
  await checkTotals()
  world.statements.length = 0
  await check()
  expect(world.statements).toContain('call-stats.usage-rolled')
})
