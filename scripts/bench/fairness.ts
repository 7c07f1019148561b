// `npm run bench fairness`: how soon a quiet project reads what it wrote beside one that sends all that eight
// connections carry and what is refused again, against what it takes when nobody else writes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBusyClients } from './busy-clients.ts'
import { createPayloads } from './payloads.ts'
import { createClient, quantile, startCallhouseServer } from './process.ts'

const busyProject = 'acme/busy'
const quietProject = 'acme/quiet'
const path = '/call/upsert_batch'
const [warmUpMs, mustMs, everyMs] = [10_000, 2_000, 200]
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const line = (name: string, value: string) => process.stdout.write(`| ${name} | ${value} |\n`)

/** Milliseconds of the quiet project. */
type Times = {
  acknowledged: number[]
  /** Time from a write to the answer of a read by id that has it, and of a list that has it. */
  read: number[]
  listed: number[]
  refused: number
}

export type FairnessFigures = {
  alone: Times
  beside: Times
  /** Rate of the busy project. */
  callsPerSecond: number
  requests: { taken: number; refused: number }
}

/** @param writes that are read back, half of them by id, half of them by a list: as many alone as beside */
export async function measureFairness(writes: number): Promise<FairnessFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  const quiet = createClient(server.port, 1, 'quiet-key')
  const payloads = createPayloads(5, quietProject, Date.now())
  const ask = async (to: string, body: object): Promise<string> => {
    const answer = await quiet(to, JSON.stringify({ project_id: quietProject, ...body }))
    // A read is repeated when the write was not applied within its limit.
    if (answer.status === 503) return ''
    if (answer.status !== 200) throw new Error(`${to} answered ${answer.status}: ${answer.body.toString()}`)
    return answer.body.toString()
  }
  const isReadable = async (id: string): Promise<boolean> => (await ask('/call/read', { id })).includes(`"id":"${id}"`)
  const isListed = async (id: string): Promise<boolean> => {
    const newest = [{ field: 'started_at', direction: 'desc' }]
    return (await ask('/calls/stream_query', { limit: 50, columns: ['id', 'op_name'], sort_by: newest })).includes(id)
  }
  /** Writes a call, and waits until `isThere`. */
  async function writeAndRead(isThere: (id: string) => Promise<boolean>, into: number[], times: Times): Promise<void> {
    const [call] = payloads.trace()
    if (!call) throw new Error('no call was made')
    const wroteMs = performance.now()
    const batch = [
      { mode: 'start', req: { start: call.start } },
      { mode: 'end', req: { end: call.end } },
    ]
    const { status, ms } = await quiet(path, JSON.stringify({ batch }))
    if (status !== 200) {
      times.refused++
      return
    }
    times.acknowledged.push(ms)
    while (!(await isThere(String(call.start.id)))) await pause(10)
    into.push(performance.now() - wroteMs)
  }
  async function timesOf(count: number): Promise<Times> {
    const times: Times = { acknowledged: [], read: [], listed: [], refused: 0 }
    for (let n = 0; n < count; n++) {
      if (n % 2 === 0) await writeAndRead(isReadable, times.read, times)
      else await writeAndRead(isListed, times.listed, times)
      await pause(everyMs)
    }
    return times
  }
  try {
    // A project that wrote today is one whose writes the others leave room for; the first of a process are slow.
    await timesOf(10)
    const alone = await timesOf(writes)
    const busy = startBusyClients(server.port, busyProject)
    const measured = async () => {
      await pause(warmUpMs)
      const began = { atMs: performance.now(), ...(await busy.sent()) }
      const beside = await timesOf(writes)
      const seconds = (performance.now() - began.atMs) / 1000
      return { began, beside, seconds, ended: await busy.sent() }
    }
    const { began, beside, seconds, ended } = await measured().finally(() => busy.end())
    const requests = { taken: ended.taken - began.taken, refused: ended.refused - began.refused }
    return { alone, beside, requests, callsPerSecond: (requests.taken * busy.callsPerRequest) / seconds }
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

export async function benchFairness(writes: number): Promise<void> {
  const { alone, beside, requests, callsPerSecond } = await measureFairness(writes)
  line('calls/s of the busy project, taken', callsPerSecond.toFixed(0))
  line('its requests refused', `${requests.refused} of ${requests.taken + requests.refused}`)
  line('writes of the quiet project refused', `${beside.refused} of ${writes}`)
  const of = (times: number[]) =>
    `${quantile(times, 0.5).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} / ${Math.max(...times).toFixed(0)}`
  for (const [name, key] of [
    ['acknowledged', 'acknowledged'],
    [`write to read (must ${mustMs})`, 'read'],
    ['write to list', 'listed'],
  ] as const)
    line(`${name}, p50 / p95 / longest ms: beside; alone`, `${of(beside[key])}; ${of(alone[key])}`)
}
