// Measures the erasure of a thousand calls beside many others, and the cost for lists meanwhile.
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { type BenchServer, createClient, median, type Post, startCallhouseServer } from './process.ts'
import { filledFolder, project } from './reads.ts'
import { figure } from './safety-figures.ts'

const erased = 1_000
/** Erasures: beside the lists, and for the CPU without them. */
const turns = 2
const listsBefore = 200
const memoryCapBytes = 2 * 2 ** 30

const sort_by = [{ field: 'started_at', direction: 'desc' }]
const lists = [
  { filter: { trace_roots_only: true }, columns: ['id', 'started_at', 'op_name'], sort_by, limit: 50 },
  { filter: { trace_roots_only: true }, sort_by, limit: 50 },
]

/** Calls without others below them, from all over what is stored: no file of the tables is spared. */
async function sample(dir: string): Promise<string[]> {
  const limits = { memoryCapBytes, queryTimeoutMs: 600_000, queryMemoryBytes: memoryCapBytes }
  const store = await createEmbeddedStore({ dir, ...limits })
  const rows = await store.rows<{ id: string }>({
    name: 'bench.sample',
    sql: `SELECT id FROM callhouse.calls WHERE project_id = {project:String} AND parent_id != ''
      AND id NOT IN (SELECT parent_id FROM callhouse.calls WHERE project_id = {project:String})
      ORDER BY cityHash64(id) LIMIT {count:UInt64}`,
    params: { project, count: erased * turns },
  })
  await store.close()
  return rows.map(({ id }) => id)
}

async function answered(send: Post, path: string, body: object, expected = 200): Promise<{ ms: number; text: string }> {
  const { status, ms, body: bytes } = await send(path, JSON.stringify({ project_id: project, ...body }))
  const text = bytes.toString()
  if (status !== expected) throw new Error(`${path} answered ${status}: ${text.slice(0, 300)}`)
  return { ms, text }
}

/** Milliseconds of lists, by turns, while a condition holds. */
async function listTimes(send: Post, goesOn: (sent: number) => boolean): Promise<number[]> {
  const times: number[] = []
  while (goesOn(times.length))
    times.push((await answered(send, '/calls/stream_query', lists[times.length % lists.length] as object)).ms)
  return times
}

type Erasure = { hiddenSeconds: number; isRemoved(): boolean; removed: Promise<void> }

/** Asks for an erasure, waits until no answer has the calls any more, and then for their rows to be gone. */
async function erase(server: BenchServer, call_ids: string[]): Promise<Erasure> {
  const send = createClient(server.port, 1)
  const began = performance.now()
  const asked = { call_ids, descendants: true, files: true, feedback: true, reason: 'bench' }
  const { text } = await answered(send, '/erasures', asked, 202)
  const { erasure_id, calls } = JSON.parse(text) as { erasure_id: string; calls: number }
  if (calls !== call_ids.length) throw new Error(`${calls} of ${call_ids.length} calls are to be erased`)
  const count = async () => {
    const found = await answered(send, '/calls/query_stats', { filter: { call_ids } })
    return (JSON.parse(found.text) as { count: number }).count
  }
  while ((await count()) > 0) await pause(10)
  const hiddenSeconds = (performance.now() - began) / 1000

  let isRemoved = false
  const status = async (): Promise<string> => {
    const url = `http://127.0.0.1:${server.port}/v2/${project}/erasures/${erasure_id}`
    const answer = await fetch(url, { headers: { authorization: 'Bearer bench-key' } })
    return ((await answer.json()) as { status: string }).status
  }
  const wait = async () => {
    for (;;) {
      const now = await status()
      if (now === 'failed') throw new Error('the erasure failed')
      if (now === 'verifying' || now === 'done') break
      await pause(500)
    }
    isRemoved = true
  }
  return { hiddenSeconds, isRemoved: () => isRemoved, removed: wait() }
}

/** @param calls that are stored, half of them in the project of the erased ones */
export async function benchErasure(calls: number): Promise<void> {
  const dir = await filledFolder(calls, undefined, false)
  try {
    const ids = await sample(dir)
    const server = await startCallhouseServer(dir, {
      CALLHOUSE_ERASE_HOURS: '0',
      CALLHOUSE_MIN_FREE_BYTES: '0',
      CALLHOUSE_MEMORY_CAP_BYTES: String(memoryCapBytes),
    })
    try {
      const send = createClient(server.port, 1)
      const name = `erasure of 1,000 of ${calls / 1e6} M calls`
      const some = (sent: number) => sent < listsBefore
      await listTimes(send, some)
      const before = await listTimes(send, some)
      const first = await erase(server, ids.slice(0, erased))
      const beside = await listTimes(send, () => !first.isRemoved())
      await first.removed
      const after = await listTimes(send, some)
      const second = await (async () => {
        const [whole, engine] = [server.cpuSeconds(), server.engineCpuSeconds()]
        const erasure = await erase(server, ids.slice(erased))
        await erasure.removed
        return { ...erasure, cpu: { whole: server.cpuSeconds() - whole, engine: server.engineCpuSeconds() - engine } }
      })()
      const quiet = median([...before, ...after])
      process.stdout.write(
        `lists: ${quiet.toFixed(1)} ms, ${median(beside).toFixed(1)} ms beside an erasure (${beside.length} of them)\n`,
      )
      figure(`${name}: hidden`, Math.max(first.hiddenSeconds, second.hiddenSeconds), 's', 2)
      process.stdout.write(`CPU of the process until the rows were gone: ${second.cpu.whole.toFixed(1)} s\n`)
      figure(`${name}: CPU of the engine`, second.cpu.engine, 's', 120)
      figure(`${name}: lists meanwhile`, median(beside) / quiet, '', 1.5)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
