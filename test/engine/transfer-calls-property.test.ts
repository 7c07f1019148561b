// Any history of calls, written out as rows of the log and applied again in any order and grouping, gives the same calls.
// again: property
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSerialQueue } from '../../services/core/concurrency/serial-queue.ts'
import type { Store } from '../../services/core/store/store.ts'
import type { CallFragment } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { topics } from '../../services/events/registry.ts'
import { sources } from '../../services/operations/transfer/exported-tables.ts'
import { createPages } from '../../services/operations/transfer/pages.ts'
import { createDeduplication } from '../../services/worker/calls/deduplicate.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { baseUs, complete, end, rename, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

const calls = runs(80, 1_000)
const random = createRandom(20260117)
let store: Store
let remove: () => Promise<void>
let applied = 0

beforeAll(async () => {
  const opened = await createTestStore()
  store = opened.store
  remove = opened.remove
})
afterAll(() => remove?.())

const shuffled = <T>(list: readonly T[]): T[] => {
  const left = [...list]
  return list.map(() => left.splice(random.below(left.length), 1)[0] as T)
}

/** Parts of one call: several starts at several times, ends, names, whole ones; spans in two traces. */
function partsOf(n: number): CallFragment[] {
  const isSpan = random.chance(0.3)
  const id = isSpan ? n.toString(16).padStart(16, '0') : `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
  const projectId = random.chance(0.2) ? 'move/other' : 'move/calls'
  const startedUs = () => baseUs + n * 1_000_003 + random.pick([0, 0, 0, 60_000_000, 40 * 86_400_000_000])
  const traceId = () => (isSpan ? random.pick(['t1', 't2']) : 't1')
  // Spans of two traces that have one id never begin at the same microsecond.
  const placed = (traceId: string) => ({ traceId, startedUs: startedUs() + (traceId === 't2' ? 7 : 0) })
  const begun = () => ({
    projectId,
    ...placed(traceId()),
    opName: `op-${random.below(5)}`,
    runStep: random.pick([null, 3]),
    inputs: random.pick(['{"a":1.0}', '"text\\nand \\u20ac"', `{"n":${random.below(9)}}`, '[1,[]]']),
    displayName: random.pick([null, null, `named ${random.below(9)}`]),
    // a raw span stands on the other texts of its row
    otelDump: random.pick(['', `{"dump":${random.below(99)}}`]),
    odd: random.chance(0.1),
  })
  const ended = () => ({
    projectId,
    endedUs: baseUs + random.below(1e9),
    output: `{"o":${random.below(99)}}`,
    summary: '{"s":"x/y"}',
    exception: random.pick(['', 'Error: "quoted"']),
    errorCount: random.below(2),
    odd: random.chance(0.1),
    usage: random.pick([[], [{ model: 'm', requests: 1, input: 2, output: 3, total: 5, cacheRead: 0, cacheWrite: 1 }]]),
  })
  const kinds = [
    () => start(id, begun()),
    () => end(id, { ...ended(), payloadUs: startedUs() }),
    () => complete(id, { ...begun(), ...ended() }),
    () => ({ ...rename(id, random.pick(['', 'new'])), projectId }),
    (): CallFragment => ({ ...rename(id, ''), projectId, kind: 'delete' }),
  ]
  const weights = [0, 0, 0, 1, 1, 1, 2, 2, 3]
  const parts = Array.from({ length: 1 + random.below(5) }, () => (kinds[random.pick(weights)] as () => CallFragment)())
  return random.chance(0.1) ? [...parts, (kinds[4] as () => CallFragment)()] : parts
}

const lineOf = (part: CallFragment): Buffer => {
  const writer = createCallWriter()
  writer.add(part)
  return writer.take()[0]?.rows as Buffer
}

/** As the worker does, in batches of any size. */
async function apply(lines: readonly Buffer[]): Promise<void> {
  const materializer = createCallMaterializer(store)
  for (let at = 0; at < lines.length; ) {
    const some = lines.slice(at, at + 1 + random.below(2 * calls))
    const patchCount = some.filter((line) => !line.includes('"kind":"complete"')).length
    const batch = { partition: 0, rowCount: some.length, patchCount, lastOffset: ++applied }
    await materializer.beforeInsert(batch as never)
    expect(await store.insert(topics.calls, { bytes: some })).toEqual({ rowsRead: some.length })
    await materializer.afterInsert(batch)
    at += some.length
  }
  await createDeduplication({
    store,
    calls: materializer,
    queue: createSerialQueue(),
    committed: async () => [],
    next: async () => ({ partition: 0, offset: ++applied }),
  }).all()
}

async function exported(): Promise<Buffer[]> {
  const pages = createPages(store, null, new AbortController().signal)
  const lines: string[] = []
  for (const source of sources.filter(({ topic }) => topic === 'calls'))
    for await (const chunk of pages.chunks(source)) {
      expect(chunk.withoutPayload).toBe(0)
      lines.push(...chunk.lines.toString().split('\n').filter(Boolean))
    }
  return [...new Set(lines)].sort().map((line) => Buffer.from(`${line}\n`))
}

/** Every call as readers find it. */
const shown = async (): Promise<string[]> =>
  (
    await store.rows<object>({
      name: 'test.calls',
      sql: 'SELECT * FROM callhouse.calls FINAL WHERE moved = 0 ORDER BY project_id, started_at, id',
      params: {},
    })
  ).map((row) => JSON.stringify(row))

it('calls applied again in any order and grouping give the same calls and the same export', async () => {
  await apply(shuffled(Array.from({ length: calls }, (_, n) => partsOf(n)).flat()).map(lineOf))
  const [before, lines] = [await shown(), await exported()]
  expect(before.length).toBeGreaterThan(calls / 2)
  for (const table of ['calls', 'payloads', 'call_patches', 'call_keys', 'calls_deleted', 'turns'])
    await store.command({ name: 'test.truncate', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
  expect(await shown()).toEqual([])
  await apply(shuffled(lines))
  expect(await shown()).toEqual(before)
  const texts = (all: Buffer[]) => all.map(String)
  expect(texts(await exported())).toEqual(texts(lines))
  await apply(shuffled(lines))
  expect(await shown()).toEqual(before)
})
