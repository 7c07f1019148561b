// Reference of the ingest benchmark: the obvious design. Express, a full schema, a JSON log synced per request, parsed
// again by the writer, rows as objects through the client's insert into the same tables. argv: data folder.
import { open } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express from 'express'
import { z } from 'zod'
import { parseTimestamp } from '../../services/core/clock/timestamps.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { createObviousClient } from './obvious-client.ts'

const dir = process.argv[2] as string
const start = z.object({
  project_id: z.string(),
  id: z.string(),
  op_name: z.string(),
  display_name: z.string().nullish(),
  trace_id: z.string(),
  parent_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  turn_id: z.string().nullish(),
  started_at: z.iso.datetime(),
  attributes: z.record(z.string(), z.json()),
  inputs: z.record(z.string(), z.json()),
})
const end = z.object({
  project_id: z.string(),
  id: z.string(),
  ended_at: z.iso.datetime(),
  exception: z.string().nullish(),
  output: z.json(),
  summary: z.record(z.string(), z.json()),
})
const body = z.object({
  batch: z.array(
    z.union([
      z.object({ mode: z.literal('start'), req: z.object({ start }) }),
      z.object({ mode: z.literal('end'), req: z.object({ end }) }),
    ]),
  ),
})
type Item = z.infer<typeof body>['batch'][number]

const store = await createEmbeddedStore({
  dir,
  memoryCapBytes: 2 ** 32,
  queryTimeoutMs: 60_000,
  queryMemoryBytes: 2 ** 31,
})
await store.migrate()
await store.close()
const client = createObviousClient(dir)
const log = await open(join(dir, 'obvious.log'), 'a')
let queue: string[] = []
let clock = 1_000_000

const rowsOf = (items: Item[]): Record<string, unknown>[] => {
  const starts = new Map<string, z.infer<typeof start>>()
  const rows: Record<string, unknown>[] = []
  for (const item of items) {
    if (item.mode === 'start') {
      starts.set(item.req.start.id, item.req.start)
      continue
    }
    const e = item.req.end
    const s = starts.get(e.id)
    if (!s) throw new Error('the benchmark sends start and end together')
    rows.push({
      kind: 'complete',
      project_id: s.project_id,
      id: s.id,
      clock: ++clock,
      started_us: parseTimestamp(s.started_at),
      ended_us: parseTimestamp(e.ended_at),
      trace_id: s.trace_id,
      parent_id: s.parent_id ?? '',
      thread_id: s.thread_id ?? '',
      turn_id: s.turn_id ?? '',
      op_name: s.op_name,
      exception: e.exception ?? '',
      attributes: JSON.stringify(s.attributes),
      inputs: JSON.stringify(s.inputs),
      output: JSON.stringify(e.output),
      summary: JSON.stringify(e.summary),
    })
  }
  return rows
}
const write = async (): Promise<void> => {
  for (;;) {
    const texts = queue
    queue = []
    if (texts.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const rows = texts.flatMap((text) => rowsOf((JSON.parse(text) as { batch: Item[] }).batch))
    for (let i = 0; i < rows.length; i += 10_000) await client.insert(rows.slice(i, i + 10_000))
  }
}
void write()

const app = express()
app.use(express.json({ limit: '100mb' }))
app.post('/call/upsert_batch', async (request, response) => {
  while (queue.length > 100) await new Promise((resolve) => setTimeout(resolve, 5))
  const text = JSON.stringify(body.parse(request.body))
  await log.appendFile(`${text}\n`)
  await log.datasync()
  queue.push(text)
  response.json({ res: [] })
})
app.post('/calls/query_stats', async (_request, response) => {
  response.json({ count: await client.count() })
})
const server = app.listen(0, '127.0.0.1', () =>
  process.stdout.write(`{"port":${(server.address() as AddressInfo).port}}\n`),
)
process.on('SIGTERM', () => process.kill(process.pid, 'SIGKILL'))
