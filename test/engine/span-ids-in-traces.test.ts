// A span id that starts calls in two traces: a newer start stays what the call says, whatever starts and merges come after.
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { expected, type PartRow, type PartsHistory, partRowOf, project, visible } from '../fixtures/call-parts.ts'
import { createTestStore } from '../fixtures/store.ts'

const noon = Date.UTC(2026, 3, 1) * 1_000
const file = join(tmpdir(), `callhouse-span-ids-${process.pid}.jsonl`)
let opened: Awaited<ReturnType<typeof createTestStore>>
let store: Store
let materializer: ReturnType<typeof createCallMaterializer>
beforeAll(async () => {
  opened = await createTestStore()
  store = opened.store
  materializer = createCallMaterializer(store)
})
afterAll(async () => {
  await opened.remove()
  rmSync(file, { force: true })
})

/** Applies rows as one batch, with the merge of parts that hides the rows before; it may come at any time. */
async function apply(rows: readonly PartsHistory['parts'][number][], ids: readonly string[], offset: number) {
  writeFileSync(file, rows.map((part, n) => `${JSON.stringify(partRowOf(ids[n] as string, part))}\n`).join(''))
  const [rowCount, patchCount] = [rows.length, rows.filter(({ kind }) => kind !== 'complete').length]
  const record = { offset, version: 1, rowCount, patchCount, clock: 0n, sizeBytes: 0 }
  const at = { topic: 'calls', partition: 0, firstOffset: offset, lastOffset: offset, oldestMs: 0 }
  const batch = { ...at, records: [record], rowCount, patchCount, source: { file } }
  await materializer.beforeInsert(batch)
  await store.insert(topics.calls, { file })
  for (const table of ['calls', 'call_patches'])
    await store.command({ name: 'merge', sql: `OPTIMIZE TABLE callhouse.${table} FINAL`, params: {} })
  await materializer.afterInsert(batch)
}
const shown = (): Promise<PartRow[]> => store.rows<PartRow>({ name: 'visible', sql: visible, params: { project } })

const part = (kind: 'start' | 'complete' | 'end', clock: number, trace: string, days = 0) => {
  const startedUs = noon + days * 86_400_000_000 + (trace === 'other' ? 7 : 0)
  return { kind, clock, startedUs, endedUs: startedUs + 1_000, trace, named: false }
}

it.each([
  ['of a span', '00000000000000a1', { trace: 'op-20', other: 'op-30' }],
  // Any other id is one call: the newest start says in which trace.
  ['of a call', '00000000-0000-7000-8000-0000000000a1', { other: 'op-30' }],
])('an id %s', async (_, id, ops) => {
  const parts = [part('start', 20, 'trace'), part('start', 30, 'other'), part('complete', 15, 'trace')]
  for (const [n, one] of parts.entries()) await apply([one], [id], n + 1)
  const mine = (await shown()).filter((row) => row.id === id)
  expect(Object.fromEntries(mine.map(({ trace_id, op_name }) => [trace_id, op_name]))).toEqual(ops)
})

it('a start in one trace outlives a newer one of another day in the other trace, however the parts are batched', async () => {
  const parts = [
    part('complete', 1_000_849_856_202, 'trace'),
    part('start', 1_002_626_092_541, 'other'),
    part('complete', 1_001_276_448_165, 'other'),
    part('start', 1_003_007_721_711, 'trace', 20),
    part('end', 1_001_900_040_032, 'other'),
  ]
  // Each way to cut them into batches, with an id of its own; all of them at once.
  const cuts = Array.from({ length: 2 ** (parts.length - 1) }, (_, cut) => {
    const batches = parts.map((_, n) => cut.toString(2).padStart(4, '0').slice(0, n).replaceAll('0', '').length)
    return { id: (0x989a58 + cut).toString(16).padStart(16, '0'), batches }
  })
  for (let batch = 0; batch < parts.length; batch++) {
    const rows = cuts.flatMap(({ id, batches }) =>
      parts.filter((_, n) => batches[n] === batch).map((part) => ({ id, part })),
    )
    await apply(
      rows.map(({ part }) => part),
      rows.map(({ id }) => id),
      10 + batch,
    )
  }
  const found = await shown()
  for (const { id, batches } of cuts) {
    const mine = found.filter((row) => row.id === id)
    const ops = { other: 'op-1002626092541', trace: 'op-1003007721711' }
    expect([batches, Object.fromEntries(mine.map(({ trace_id, op_name }) => [trace_id, op_name]))]).toEqual([
      batches,
      ops,
    ])
    expect(mine).toEqual(expected({ id, parts, applied: 0 }).sort((a, b) => (a.trace_id < b.trace_id ? -1 : 1)))
  }
})
