// The order property: whatever the order, batching, redelivery, crashes and merges, a call's row is the same.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSerialQueue } from '../../services/core/concurrency/serial-queue.ts'
import type { Batch } from '../../services/core/log/log.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { createDeduplication } from '../../services/worker/cleanup/deduplicate.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

type Part = {
  kind: 'complete' | 'start' | 'end' | 'name' | 'delete'
  clock: number
  startedUs: number
  endedUs: number
  trace: string
  named: boolean
}
type History = { id: string; parts: Part[]; applied: number }
type Row = {
  id: string
  started_us: string
  ended_us: string
  op_name: string
  exception: string
  display_name: string
  trace_id: string
  deleted: number
  inputs: string
  output: string
}

const project = 'order/property'
const baseUs = Date.UTC(2026, 3, 1) * 1000
const kinds = ['complete', 'start', 'end', 'name', 'delete', 'complete', 'start', 'end', 'name'] as const

function createHistory(random: Random, n: number): History {
  const span = random.chance(0.3)
  const id = span ? n.toString(16).padStart(16, '0') : `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
  const times = [0, 1, 2].map((k) => baseUs + n * 1000 + k * 3_600_000_000 * 24 * 20)
  const clocks = new Set<number>()
  const parts = Array.from({ length: 1 + random.below(7) }, () => {
    let clock = 0
    // accept clocks of several edges, skewed by up to an hour
    do clock = 1e12 + random.below(3600e6)
    while (clocks.has(clock))
    clocks.add(clock)
    const trace = span && random.chance(0.3) ? 'other' : 'trace'
    const startedUs = (random.chance(0.75) ? (times[0] as number) : random.pick(times)) + (trace === 'other' ? 7 : 0)
    return {
      kind: random.pick(kinds),
      clock,
      startedUs,
      endedUs: startedUs + random.below(1e6),
      trace,
      named: random.chance(0.3),
    }
  })
  return { id, parts, applied: 0 }
}

const rowOf = (id: string, part: Part): Record<string, unknown> => {
  const start = {
    started_us: part.startedUs,
    trace_id: part.trace,
    op_name: `op-${part.clock}`,
    ...(part.named ? { named: 1, display_name: `name-${part.clock}` } : {}),
    inputs: { clock: part.clock },
  }
  const end = { ended_us: part.endedUs, exception: `x-${part.clock}`, output: { clock: part.clock } }
  const key = { kind: part.kind, project_id: project, id, clock: part.clock }
  if (part.kind === 'complete') return { ...key, ...start, ...end }
  if (part.kind === 'start') return { ...key, ...start }
  if (part.kind === 'end') return { ...key, payload_us: part.endedUs, ...end }
  if (part.kind === 'name') return { ...key, display_name: `name-${part.clock}` }
  return key
}

const newest = (parts: Part[]): Part | undefined =>
  parts.reduce<Part | undefined>((best, part) => (best && best.clock > part.clock ? best : part), undefined)

/** The model: what the visible rows of a call must be, from its parts alone. */
function expected(history: History): Row[] {
  const span = history.id.length === 16
  const starts = history.parts.filter((p) => p.kind === 'start' || p.kind === 'complete')
  const lanes = span ? [...new Set(starts.map((p) => p.trace))] : ['']
  return lanes.flatMap((lane) => {
    const mine = (p: Part) => !span || p.trace === lane
    const start = newest(starts.filter(mine))
    if (!start) return []
    const end = newest(history.parts.filter((p) => p.kind === 'end' || (p.kind === 'complete' && mine(p))))
    const name = newest(
      history.parts.filter((p) => p.kind === 'name' || ((p.kind === 'start' || p.kind === 'complete') && p.named)),
    )
    return [
      {
        id: history.id,
        started_us: String(start.startedUs),
        ended_us: String(end?.endedUs ?? 0),
        op_name: `op-${start.clock}`,
        exception: end ? `x-${end.clock}` : '',
        display_name: name ? `name-${name.clock}` : '',
        trace_id: start.trace,
        deleted: history.parts.some((p) => p.kind === 'delete') ? 1 : 0,
        inputs: `{"clock":${start.clock}}`,
        output: end ? `{"clock":${end.clock}}` : '',
      },
    ]
  })
}

const visible = `
SELECT c.id AS id, toString(toUnixTimestamp64Micro(c.started_at)) AS started_us,
    toString(toUnixTimestamp64Micro(c.ended_at)) AS ended_us, op_name, exception, display_name, trace_id,
    toUInt8(delete_ver > 0) AS deleted, s.inputs AS inputs, e.output AS output
FROM (SELECT * FROM callhouse.calls FINAL WHERE project_id = {project:String} AND moved = 0) AS c
LEFT JOIN (SELECT at, id, argMax(inputs, clock) AS inputs FROM callhouse.payloads
    WHERE project_id = {project:String} AND part IN ('both', 'start') GROUP BY at, id) AS s
    ON s.at = c.started_at AND s.id = c.id
LEFT JOIN (SELECT at, id, argMax(output, clock) AS output FROM callhouse.payloads
    WHERE project_id = {project:String} AND part IN ('both', 'end') GROUP BY at, id) AS e
    ON e.at = c.output_at AND e.id = c.id
ORDER BY id, trace_id`

describe('rows of a call, in any order of arrival', () => {
  let dir: string
  let store: Store
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'callhouse-order-'))
    store = await createEmbeddedStore({
      dir,
      memoryCapBytes: 2 ** 31,
      queryTimeoutMs: 60_000,
      queryMemoryBytes: 2 ** 30,
    })
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const run = async (seed: number, histories: number, first: number, sweep: boolean): Promise<void> => {
    const random = createRandom(seed)
    const all = Array.from({ length: histories }, (_, n) => createHistory(random, first + n))
    const file = join(dir, `segment-${seed}.jsonl`)
    const merge = async (): Promise<void> => {
      if (!random.chance(0.4)) return
      const table = random.pick(['calls', 'call_patches', 'payloads'])
      await store.command({ name: 'merge', sql: `OPTIMIZE TABLE callhouse.${table} FINAL`, params: {} })
    }
    let materializer = createCallMaterializer(store)
    for (let round = 0; all.some((h) => h.applied < h.parts.length); round++) {
      // each history is cut on its own; sometimes parts that were applied long ago come again
      const slices = all.map((h) => {
        const from = random.chance(0.1) ? random.below(h.applied + 1) : h.applied
        return { history: h, from, to: Math.min(h.parts.length, h.applied + 1 + random.below(3)) }
      })
      const rows = slices.flatMap(({ history, from, to }) =>
        history.parts.slice(from, to).map((part) => ({ part, row: rowOf(history.id, part) })),
      )
      writeFileSync(file, `${rows.map(({ row }) => JSON.stringify(row)).join('\n')}\n`)
      const patchCount = rows.filter(({ part }) => part.kind !== 'complete').length
      const offset = round + 1
      const record = { offset, version: 1, rowCount: rows.length, patchCount, clock: 0n, sizeBytes: 0 }
      const batch: Batch = {
        topic: 'calls',
        partition: 0,
        firstOffset: offset,
        lastOffset: offset,
        records: [record],
        rowCount: rows.length,
        patchCount,
        source: { file },
        oldestMs: 0,
      }
      const crashAfter = round < 30 && random.chance(0.3) ? random.below(3) : 3
      await materializer.beforeInsert(batch)
      if (crashAfter > 0) {
        const { rowsRead } = await store.insert(topics.calls, { file })
        expect(rowsRead).toBe(rows.length)
        await merge()
      }
      if (crashAfter > 1) await materializer.afterInsert(batch)
      await merge()
      if (crashAfter < 3) materializer = createCallMaterializer(store)
      else for (const { history, to } of slices) history.applied = to
    }
    if (sweep)
      await createDeduplication({
        ...{ store, calls: materializer, queue: createSerialQueue(), committed: async () => [] },
        next: async () => ({ partition: 0, offset: 1 }),
      }).all()
    const got = await store.rows<Row>({ name: 'visible', sql: visible, params: { project } })
    const mine = new Set(all.map((h) => h.id))
    const want = all.flatMap(expected)
    const key = (row: Row) => `${row.id} ${row.trace_id}`
    const byKey = (a: Row, b: Row) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)
    expect(got.filter((row) => mine.has(row.id)).sort(byKey)).toEqual(want.sort(byKey))
  }

  // segments small enough that the look for other start times is part of every batch
  it.each(Array.from({ length: runs(3, 12) }, (_, n) => n + 1))(
    'is the model, 1,000 histories at once (seed %i)',
    (seed) => run(seed, 1_000, seed * 100_000, false),
    limitMs(240_000),
  )

  it(
    'rows are those of the model after deduplication, for thousands of histories in large segments',
    () => run(99, runs(6_000, 12_000), 10_000_000, true),
    400_000,
  )
})
