// Log records that spans wait for are joined from their batch, before the tables hold them; what cannot be is left to a look.
import { expect, it } from 'vitest'
import type { Batch, Log, Position, RecordInput } from '../../services/core/log/log.ts'
import type { Query } from '../../services/core/store/store.ts'
import { createJoiner } from '../../services/derived/logs/joiner.ts'
import { createLogWriter, writtenTexts } from '../../services/events/logs.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'c'.repeat(16)
const base = 1_772_712_000_000_000n * 1_024n

type Event = { eventName?: string; at: string; text: string; spanId?: string }

function batchOf(...events: Event[]): Batch {
  const writer = createLogWriter()
  for (const { eventName = 'gen_ai.user.message', at, text, spanId: span = spanId } of events) {
    const attributes = writtenTexts({ values: new Map([['content', text]]), json: [] })
    const row = { at, observed: '0', traceId, spanId: span, severity: 9, severityText: '', eventName, body: '' }
    writer.add('a/b', { ...row, isBodyJson: false, attributes, resource: '{}', scope: '{}' }, at, 1n)
  }
  const { rows } = writer.take()[0] as RecordInput
  const record = { offset: 1, version: 1, rowCount: events.length, patchCount: 0, clock: 1n, sizeBytes: rows.length }
  return {
    topic: 'logs',
    partition: 0,
    firstOffset: 1,
    lastOffset: 1,
    records: [record],
    rowCount: events.length,
    patchCount: 0,
    source: { bytes: [rows] },
    oldestMs: 0,
  }
}

/** A joiner that has begun, over a store with the given answers by the name of the statement. */
function started(answers: Record<string, unknown[]>, slots: number[] | null = null) {
  const asked: Query[] = []
  const seen: { contents: string[]; clock: bigint }[] = []
  const waited: Position[] = []
  const joiner = createJoiner({
    log: {
      partitions: () => 1,
      limits: { recordBytes: Number.POSITIVE_INFINITY },
      flush() {},
      append: async (topic: string) => ({ topic, partition: 0, offset: 1 }),
    } as unknown as Log,
    store: {
      async rows<T>(query: Query) {
        asked.push(query)
        return (answers[query.name] ?? []) as T[]
      },
      command: async (query) => void asked.push(query),
    },
    progress: {
      async reach(positions) {
        waited.push(...positions)
        return true
      },
    },
    mapping: {
      joined(stored, events, clock) {
        seen.push({ contents: events.map(({ attributes }) => attributes.content as string), clock })
        return { kind: 'complete', ...stored, displayName: null, clock }
      },
      evaluation: () => null,
    },
    slots: () => slots,
    onError: () => undefined,
  })
  joiner.start()
  const noted = () => asked.filter(({ name }) => name === 'log-joined-insert').map(({ params }) => params)
  return { joiner, asked, seen, waited, noted }
}

const span = { project_id: 'a/b', trace_id: traceId, id: spanId, clock: String(base) }
const spanRow = {
  ...span,
  parent_id: '',
  thread_id: '',
  turn_id: '',
  op_name: 'chat',
  exception: '',
  user_id: '',
  run_id: '',
  started_us: '1',
  ended_us: '2',
  run_step: '-1',
  run_step_end: '-1',
  error_count: 0,
  usage_model: [],
  input_refs: [],
  output_refs: [],
}
const payload = {
  project_id: 'a/b',
  id: spanId,
  started_us: '1',
  clock: String(base),
  odd: 0,
  mask: 0,
  mask_hits: 0,
  wanted: 1,
  inputs: '{}',
  output: '{}',
  attributes: '{}',
  summary: '{}',
  otel_dump: '{}',
}
/** The stored rows of a span that nothing was joined with. */
const storedSpan = { 'log-joins-spans': [spanRow], 'log-joins-payloads': [payload] }
const at = (n: number) => `177271200000000000${n}`
const stored = (n: number, content: string) => ({
  project_id: 'a/b',
  trace_id: traceId,
  span_id: spanId,
  id: `stored ${n}`,
  at_ns: at(n),
  json_keys: [],
  event_name: 'gen_ai.user.message',
  body: '',
  body_json: 0,
  attributes: { content },
})

it('records that arrive are joined in the order of their times with those that the tables hold', async () => {
  const answers = { ...storedSpan, 'log-joins-events': [stored(1, 'first'), stored(3, 'third')] }
  const { joiner, seen, waited, noted } = started(answers)
  // Times that are one to a double, and one record that came twice.
  const twice = { at: at(2), text: 'second' }
  expect(await joiner.arrived(batchOf(twice, { at: at(4), text: 'fourth' }, twice))).toBe(true)
  expect(seen).toEqual([{ contents: ['first', 'second', 'third', 'fourth'], clock: base + 4n }])
  expect(noted()).toMatchObject([{ projects: ['a/b'], spans: [spanId], events: [4] }])
  expect(joiner.projects()).toContain('a/b')
  // The call can be read before the records are applied.
  expect(waited).toEqual([{ topic: 'calls', partition: 0, offset: 1 }])
  // The row that it made needs no look when it is applied; that of the span would.
  const clocks = [base + 4n, base].map(String)
  expect(clocks.map((clock) => joiner.isJoined('a/b', spanId, clock))).toEqual([true, false])
  await joiner.stop()
})

it.each<[string, Event[], Record<string, unknown[]>]>([
  ['whose span is not there yet', [{ at: at(1), text: 'x' }], {}],
  ['whose span has no payload yet', [{ at: at(1), text: 'x' }], { 'log-joins-spans': [spanRow] }],
  [
    'of which a span has more than are joined',
    [{ at: at(1), text: 'x' }],
    { ...storedSpan, 'log-joins-events': Array.from({ length: 1_000 }, (_, n) => stored(n, 'x')) },
  ],
  ['that are evaluations', [{ eventName: 'gen_ai.evaluation.result', at: at(1), text: 'x' }], {}],
  ['of coding agents without a span', [{ eventName: 'codex.tool_result', at: at(1), text: 'x', spanId: '' }], {}],
  [
    'of many spans',
    Array.from({ length: 101 }, (_, n) => ({ at: at(1), text: 'x', spanId: n.toString(16).padStart(16, 'd') })),
    storedSpan,
  ],
  ['in a large batch', [{ at: at(1), text: 'x'.repeat(2 ** 20) }], storedSpan],
])('records that arrive are left to a look when they are those %s', async (_, events, answers) => {
  const { joiner, seen, noted } = started(answers)
  expect(await joiner.arrived(batchOf(...events))).toBe(false)
  expect([seen, noted()]).toEqual([[], []])
  await joiner.stop()
})

it('records that arrive are left to the worker that holds the hash slot of their project', async () => {
  const { joiner, seen } = started(storedSpan, [])
  expect(await joiner.arrived(batchOf({ at: at(1), text: 'x' }))).toBe(false)
  expect(seen).toEqual([])
  await joiner.stop()
})

it('records that nobody waits for need nothing', async () => {
  const { joiner, asked } = started({})
  const plain = { eventName: 'app.message', at: at(1), text: '"event_name":"gen_ai.user.message"' }
  expect(await joiner.arrived(batchOf(plain, { at: at(2), text: 'x', spanId: '' }))).toBe(true)
  expect(asked.filter(({ name }) => name === 'log-joins-spans')).toEqual([])
  await joiner.stop()
})

it.each([
  ['are due again while the payload of their call is not there', {}, 0],
  ['are done where their call was not sent as a span', { 'log-joins-payloads': [{ ...payload, wanted: 0 }] }, 1],
])('records that arrive %s', async (_, payloads, notes) => {
  const due = { ...span, base: span.clock, joined_clock: '0', joined_events: 0, events: 1, bytes: '1' }
  const { joiner, seen, noted } = started({
    'log-joins-projects': [{ project_id: 'a/b', responses: 0, turns: 0 }],
    'log-joins-due': [due],
    'log-joins-spans': [spanRow],
    'log-joins-events': [stored(1, 'first')],
    ...payloads,
  })
  expect(await joiner.look(10)).toBe(0)
  // The one look that it begins with, and this one.
  expect([seen, noted().length]).toEqual([[], 2 * notes])
  await joiner.stop()
})
