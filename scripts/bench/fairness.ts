// `npm run bench fairness`: how soon a quiet project reads what it wrote beside one that sends all that eight
// connections carry and what is refused again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBusyClients } from './busy-clients.ts'
import { createPayloads } from './payloads.ts'
import { createClient, quantile, startCallhouseServer } from './process.ts'

const busyProject = 'acme/busy'
const quietProject = 'acme/quiet'
const path = '/call/upsert_batch'
const [warmUpMs, mustMs] = [15_000, 2_000]
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const line = (name: string, value: string) => process.stdout.write(`| ${name} | ${value} |\n`)

export async function benchFairness(writes: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  const quiet = createClient(server.port, 1, 'quiet-key')
  const payloads = createPayloads(5, quietProject)
  const isReadable = async (id: string): Promise<boolean> => {
    const { status, body } = await quiet('/call/read', JSON.stringify({ project_id: quietProject, id }))
    if (status !== 200) throw new Error(`reading answered ${status}: ${body.toString().slice(0, 200)}`)
    return JSON.parse(body.toString()).call !== null
  }
  /** Milliseconds until it was read; null when it was refused. */
  const writeAndRead = async (): Promise<number | null> => {
    const [call] = payloads.trace()
    if (!call) throw new Error('no call was made')
    const wroteMs = performance.now()
    const batch = [
      { mode: 'start', req: { start: call.start } },
      { mode: 'end', req: { end: call.end } },
    ]
    if ((await quiet(path, JSON.stringify({ batch }))).status !== 200) return null
    while (!(await isReadable(String(call.start.id)))) await pause(10)
    return performance.now() - wroteMs
  }
  // A project that wrote today is one whose writes the others leave room for.
  await writeAndRead()
  const busy = startBusyClients(server.port, busyProject)
  await pause(warmUpMs)
  const times: number[] = []
  let refused = 0
  const began = { atMs: performance.now(), ...(await busy.sent()) }
  while (times.length < writes) {
    const ms = await writeAndRead()
    if (ms === null) refused++
    else times.push(ms)
    await pause(500)
  }
  const seconds = (performance.now() - began.atMs) / 1000
  const ended = await busy.sent()
  await busy.end()
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
  const [taken, again] = [ended.taken - began.taken, ended.refused - began.refused]
  line('calls/s of the busy project, taken', ((taken * busy.callsPerRequest) / seconds).toFixed(0))
  line('its requests refused', `${again} of ${taken + again}`)
  line('writes of the quiet project refused', `${refused} of ${writes + refused}`)
  line(
    `write to read of the quiet project, p50 / p95 / longest ms (must ${mustMs})`,
    `${quantile(times, 0.5).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} / ${Math.max(...times).toFixed(0)}; ${times.filter((ms) => ms > mustMs).length} of ${times.length} took longer`,
  )
}
