// Measures a running server: the time until a revoked key is refused, the cost of an admin's audited action, and a
// quiet project beside a busy one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { createKeys } from '../../services/core/http/keys.ts'
import { startBusyClients } from './busy-clients.ts'
import { createPayloads } from './payloads.ts'
import { type BenchServer, createClient, quantile, startCallhouseServer } from './process.ts'
import { figure } from './safety-figures.ts'

const [revocations, adminActions, quietRequests] = [100, 300, 300]
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const authorization = 'Bearer bench-key'

const asked = (server: BenchServer, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init)

/** Seconds until a server refuses a key that another process has revoked. */
async function revocation(server: BenchServer, dataDir: string): Promise<void> {
  const directory = openFileDirectory({ dataDir })
  const keys = createKeys(directory, { configured: [] })
  const seconds: number[] = []
  for (let n = 0; n < revocations; n++) {
    const { id, text, stored } = keys.create({ userId: `revoked ${n}`, role: 'reader', grants: '*' })
    await stored
    const status = async () => {
      const answer = await asked(server, '/projects/query', {
        method: 'POST',
        body: '{}',
        headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      })
      await answer.arrayBuffer()
      return answer.status
    }
    while ((await status()) !== 200) await pause(5)
    const began = performance.now()
    await directory.append([{ key: itemKey('key-revoked', id), value: {} }], 'bench')
    while ((await status()) === 200) await pause(2)
    seconds.push((performance.now() - began) / 1000)
  }
  await directory.close()
  figure('revocation seen by another process, p99, embedded', quantile(seconds, 0.99), 's', 1)
}

async function adminActionsOf(server: BenchServer): Promise<void> {
  const ms: number[] = []
  for (let n = 0; n < adminActions; n++) {
    const began = performance.now()
    const answer = await asked(server, '/v2/acme/app/settings/retention', {
      method: 'PUT',
      body: JSON.stringify({ calls_days: 100 + n }),
      headers: { authorization, 'content-type': 'application/json' },
    })
    if (answer.status !== 200) throw new Error(`a setting answered ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
    ms.push(performance.now() - began)
  }
  figure('admin action with audit, p99', quantile(ms, 0.99), 'ms', 50)
}

type Quiet = { ack: number; visible: number; list: number }

/** The times of a project that writes a trace and reads it, one after the other. */
async function quietTimes(server: BenchServer, seed: number): Promise<Quiet> {
  const project_id = 'acme/quiet'
  const send = createClient(server.port, 1, 'quiet-key')
  const payloads = createPayloads(seed, project_id)
  const [acks, visible, lists]: number[][] = [[], [], []]
  while ((acks as number[]).length < quietRequests) {
    const batch = payloads.trace().flatMap(({ start, end }) => [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ])
    const began = performance.now()
    const ack = await send('/call/upsert_batch', JSON.stringify({ batch }))
    // Others fill the log: it says when to come again.
    if (ack.status !== 200) {
      await pause(100)
      continue
    }
    acks?.push(ack.ms)
    const body = JSON.stringify({ project_id, limit: 20, sort_by: [{ field: 'started_at', direction: 'desc' }] })
    // The first list waits for what was written, the second for nothing.
    await send('/calls/stream_query', body)
    visible?.push((performance.now() - began) / 1000)
    const list = await send('/calls/stream_query', body)
    lists?.push(list.ms)
    await pause(50)
  }
  const of = (times: number[] | undefined, q: number) => quantile(times ?? [], q)
  return { ack: of(acks, 0.99), visible: of(visible, 0.99), list: of(lists, 0.95) }
}

/** Others send ten times and more what the server takes; what is refused comes again. */
async function quietBesideBusy(server: BenchServer): Promise<void> {
  await quietTimes(server, 21)
  const alone = await quietTimes(server, 22)
  const busy = startBusyClients(server.port, 'acme/busy')
  await pause(10_000)
  const beside = await quietTimes(server, 24)
  await busy.end()
  figure('quiet project beside a busy one, ack p99 against alone', beside.ack / alone.ack, '', 3)
  figure('quiet project beside a busy one, written and listed p99', beside.visible, 's', 2)
  figure('quiet project beside a busy one, list p95 against alone', beside.list / alone.list, '', 3)
}

export async function benchRunningServer(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-safety-'))
  const server = await startCallhouseServer(dir)
  try {
    await revocation(server, dir)
    await adminActionsOf(server)
    await quietBesideBusy(server)
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
