// A span id that starts calls in two traces: a newer start stays what the call says, whatever starts and merges come after.
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { type PartRow, partRowOf, project, visible } from '../fixtures/call-parts.ts'
import { createTestStore } from '../fixtures/store.ts'

const file = join(tmpdir(), `callhouse-span-ids-${process.pid}.jsonl`)
let opened: Awaited<ReturnType<typeof createTestStore>>
let store: Store
beforeAll(async () => {
  opened = await createTestStore()
  store = opened.store
})
afterAll(async () => {
  await opened.remove()
  rmSync(file, { force: true })
})

const part = (kind: 'start' | 'complete', clock: number, trace: string) => {
  const startedUs = Date.UTC(2026, 3, 1) * 1_000 + (trace === 'other' ? 7 : 0)
  return { kind, clock, startedUs, endedUs: startedUs + 1_000, trace, named: false }
}

it.each([
  ['of a span', '00000000000000a1', { trace: 'op-20', other: 'op-30' }],
  // Any other id is one call: the newest start says in which trace.
  ['of a call', '00000000-0000-7000-8000-0000000000a1', { other: 'op-30' }],
])('an id %s', async (_, id, ops) => {
  const materializer = createCallMaterializer(store)
  const parts = [part('start', 20, 'trace'), part('start', 30, 'other'), part('complete', 15, 'trace')]
  for (const [n, one] of parts.entries()) {
    writeFileSync(file, `${JSON.stringify(partRowOf(id, one))}\n`)
    const [offset, patchCount] = [n + 1, one.kind === 'complete' ? 0 : 1]
    const record = { offset, version: 1, rowCount: 1, patchCount, clock: 0n, sizeBytes: 0 }
    const at = { topic: 'calls', partition: 0, firstOffset: offset, lastOffset: offset, oldestMs: 0 }
    const batch = { ...at, records: [record], rowCount: 1, patchCount, source: { file } }
    await materializer.beforeInsert(batch)
    await store.insert(topics.calls, { file })
    // The merge of parts that hides the rows before; it may come at any time.
    for (const table of ['calls', 'call_patches'])
      await store.command({ name: 'merge', sql: `OPTIMIZE TABLE callhouse.${table} FINAL`, params: {} })
    await materializer.afterInsert(batch)
  }
  const rows = await store.rows<PartRow>({ name: 'visible', sql: visible, params: { project } })
  const mine = rows.filter((row) => row.id === id)
  expect(Object.fromEntries(mine.map(({ trace_id, op_name }) => [trace_id, op_name]))).toEqual(ops)
})
