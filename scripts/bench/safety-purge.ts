// Measures the bytes that the removal of old rows rewrites for each sent byte: the number of rewrites, by the rule
// itself, for fifty projects that write the same amount every day and keep it for 7 to 365 days, times the size of a
// sent byte in the files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { agedTables } from '../../services/removal/places.ts'
import { isRewritten, type RemovedRows } from '../../services/removal/rewrites.ts'
import { createPayloads } from './payloads.ts'
import { createClient, sendAll, startCallhouseServer } from './process.ts'

const dayMs = 86_400_000
/** Days that each of them keeps what it writes. */
const projects = Array.from({ length: 50 }, (_, n) => Math.round(7 + (n * (365 - 7)) / 49))
/** Days until as much goes as comes, and days that are counted then. */
const [warmUpDays, countedDays] = [400, 730]

/** Days in order, and by project whether their rows are still in the files. */
type Month = { name: string; days: { day: number; files: Uint8Array }[] }

const monthOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 7).replace('-', '')
const usOf = (day: number): number => day * dayMs * 1000

/** The rows of a project in the files of a month. */
function rowsOf({ days }: Month, project: number, today: number): RemovedRows {
  const cutoff = today - (projects[project] as number)
  const stored = days.filter(({ files }) => files[project] === 1).map(({ day }) => day)
  const removed = stored.filter((day) => day < cutoff)
  return {
    rows: stored.length,
    removed: removed.length,
    cutoffUs: usOf(cutoff),
    oldestUs: usOf(removed[0] ?? 0),
    newestUs: usOf(removed.at(-1) ?? 0),
  }
}

/** Takes the rows that are older than their projects keep them out of the files of a month. */
function removeOld({ days }: Month, today: number): void {
  for (const { day, files } of days)
    for (const [project, keptDays] of projects.entries()) if (day < today - keptDays) files[project] = 0
}

/** @returns rows rewritten for each row that came */
export function rewritesPerRow(roundDays: number): number {
  const months = new Map<string, Month>()
  const first = Math.floor(Date.UTC(2024, 0, 1) / dayMs)
  let [written, rewritten] = [0, 0]
  for (let today = first; today < first + warmUpDays + countedDays; today++) {
    const isCounted = today >= first + warmUpDays
    const name = monthOf(today)
    const month = months.get(name) ?? { name, days: [] }
    months.set(name, month)
    month.days.push({ day: today, files: new Uint8Array(projects.length).fill(1) })
    if (isCounted) written += projects.length
    for (const one of months.values()) {
      const rows = projects.map((_, project) => rowsOf(one, project, today))
      if (!isRewritten(`payloads ${one.name}`, rows, roundDays, today * dayMs)) continue
      removeOld(one, today)
      if (isCounted) rewritten += rows.reduce((sum, { rows: all, removed }) => sum + all - removed, 0)
    }
  }
  return rewritten / written
}

const storedCalls = 40_000
const quietMs = 5_000
const memoryBytes = 2 ** 31

/** Bytes of the tables that retention clears, of the usual calls, for each byte that was sent. */
export async function storedPerByte(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-safety-'))
  try {
    const server = await startCallhouseServer(dir)
    const payloads = createPayloads(31, 'bench/stored', Date.now() - 20 * dayMs, 40_000)
    const bodies = Array.from({ length: storedCalls / 200 }, () => Buffer.from(payloads.upsertBatch(200)))
    const send = createClient(server.port, 4)
    await sendAll(bodies, (body) => send('/call/upsert_batch', body), 4)
    const count = async (): Promise<number> => {
      const { body } = await send('/calls/query_stats', JSON.stringify({ project_id: 'bench/stored' }))
      return JSON.parse(body.toString()).count
    }
    while ((await count()) !== storedCalls) await setTimeout(200)
    // Derived data follows while nothing else is to do.
    for (let used = Number.POSITIVE_INFINITY; used > 0.1; ) {
      const before = server.cpuSeconds()
      await setTimeout(quietMs)
      used = server.cpuSeconds() - before
    }
    await server.stop()
    const store = await createEmbeddedStore({
      dir,
      memoryCapBytes: memoryBytes,
      queryTimeoutMs: 60_000,
      queryMemoryBytes: memoryBytes,
    })
    const [found] = await store.rows<{ bytes: number }>({
      name: 'bench.stored',
      sql: `SELECT toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts
        WHERE active AND database = 'callhouse' AND table IN {tables:Array(String)}`,
      params: { tables: agedTables.map(({ table }) => table) },
    })
    await store.close()
    return (found?.bytes ?? Number.NaN) / bodies.reduce((sum, { length }) => sum + length, 0)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
