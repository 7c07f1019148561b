// Spans of one id that begin in the same microsecond of several traces: each trace has its row, however they come.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { createApplier } from '../../services/worker/apply-batch.ts'
import { createKnownCalls } from '../../services/worker/calls/known-calls.ts'
import { createTestStore } from '../fixtures/store.ts'

const noonUs = Date.UTC(2026, 3, 1, 12) * 1_000
const span = '00f067aa0ba902b7'
const traceOf = (n: number) => String(n).padStart(32, '0')

let opened: Awaited<ReturnType<typeof createTestStore>>
let store: Store
let clock = 1
beforeAll(async () => {
  opened = await createTestStore()
  store = opened.store
})
afterAll(() => opened.remove())

const rowOf = (project_id: string, trace: number, more = {}) => ({
  text: Buffer.from(
    JSON.stringify({
      kind: 'complete',
      project_id,
      id: span,
      clock: clock++,
      started_us: noonUs,
      trace_id: traceOf(trace),
      inputs: `{"of":${trace}}`,
      ...more,
    }),
  ),
  partition: 0,
  offset: 1,
  rowIndex: 0,
})
type Row = ReturnType<typeof rowOf>

const batchOf = (rows: Row[]) => ({
  topic: 'calls',
  partition: 0,
  firstOffset: 1,
  lastOffset: 1,
  records: [{ offset: 1, version: 1, rowCount: rows.length, patchCount: 0, clock: 0n, sizeBytes: 0 }],
  rowCount: rows.length,
  patchCount: 0,
  source: { bytes: rows.flatMap(({ text }) => [text, Buffer.from('\n')]) },
  oldestMs: 0,
})

async function applierWith(newCalls: 'known' | 'looked up' | 'always merged') {
  const known = newCalls === 'known' ? createKnownCalls({ store }) : undefined
  await known?.fill()
  return createApplier({
    store,
    log: { committed: async () => [] },
    deadLetters: { add: async () => expect.unreachable() },
    ...(newCalls !== 'always merged' && { newCalls: { known } }),
  })
}

/** Times after noon by trace, and the inputs that stand there. */
const stored = async (project: string) =>
  store.rows({
    name: 'stored',
    sql: `SELECT trace_id, us, inputs FROM
        (SELECT *, toFloat64(toUnixTimestamp64Micro(started_at) - {noonUs:Int64}) AS us FROM callhouse.calls FINAL
         WHERE project_id = {project:String} AND moved = 0) AS c
      LEFT JOIN (SELECT id, at, inputs FROM callhouse.payloads FINAL WHERE project_id = {project:String}) AS p
        ON p.id = c.id AND p.at = c.started_at
      ORDER BY us`,
    params: { project, noonUs },
  })
const expected = (...traces: number[]) =>
  traces.map((trace, us) => ({ trace_id: traceOf(trace), us, inputs: `{"of":${trace}}` }))

describe.each(['known', 'looked up', 'always merged'] as const)('where calls are %s', (newCalls) => {
  it('the first keeps its time, and the others begin a microsecond later each', async () => {
    const project = `shared times, ${newCalls}`
    const applier = await applierWith(newCalls)
    for (const trace of [1, 2, 3]) await applier.apply(batchOf([rowOf(project, trace)]))
    expect(await stored(project)).toEqual(expected(1, 2, 3))
    for (const trace of [3, 1, 2]) await applier.apply(batchOf([rowOf(project, trace)]))
    expect(await stored(project)).toEqual(expected(1, 2, 3))
    // and after a restart, as rows that are at hand
    const later = await applierWith(newCalls)
    const rows = [2, 3, 1].map((trace) => rowOf(project, trace))
    await later.apply(batchOf(rows), rows)
    await later.reapply('calls', rows)
    expect(await stored(project)).toEqual(expected(1, 2, 3))
  })

  it('as well in one batch', async () => {
    const project = `one batch, ${newCalls}`
    const applier = await applierWith(newCalls)
    const batch = () => batchOf([4, 5, 4].map((trace) => rowOf(project, trace)))
    await applier.apply(batch())
    expect(await stored(project)).toEqual(expected(4, 5))
    await applier.apply(batch())
    expect(await stored(project)).toEqual(expected(4, 5))
  })
})

it('spans of one trace that come again at another time are one call', async () => {
  const project = 'moved'
  const applier = await applierWith('known')
  await applier.apply(batchOf([rowOf(project, 6)]))
  await applier.apply(batchOf([rowOf(project, 6, { started_us: noonUs + 1 })]))
  await applier.apply(batchOf([rowOf(project, 7)]))
  const rows = await stored(project)
  expect(rows.map((row) => (row as { trace_id: string }).trace_id).sort()).toEqual([traceOf(6), traceOf(7)])
})
