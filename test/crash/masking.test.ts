// tier: deep kafka
// Masked values are nowhere: markers in every field of every writing route, a process that is killed, and then a search
// of every file of the data folder, of the bucket and of the broker, of every table and of what the process printed.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth, type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { placesInFolder } from '../fixtures/data-folder.ts'
import { eventually } from '../fixtures/eventually.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { createInstallation } from '../fixtures/installation.ts'
import { type Broker, startBroker } from '../fixtures/kafka-broker.ts'
import { encodeLogsRequest, encodeRequest } from '../fixtures/otlp-proto.ts'
import { runs } from '../fixtures/runs.ts'
import { type S3Server, s3Environment, startS3Server } from '../fixtures/s3-server.ts'

const project_id = 'secrets/app'
let folder: string
let server: ChildServer
let printed = ''
let s3: S3Server
let env: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-masking-'))
  s3 = await startS3Server()
  env = { ...s3Environment, CALLHOUSE_FILE_BUCKET: s3.url, CALLHOUSE_OTLP_GRPC_PORT: '0' }
  server = await startChildServer(folder, env)
})
afterAll(async () => {
  await server?.stop()
  await s3?.stop()
  await rm(folder, { recursive: true, force: true })
})

type Sent = { method?: string; type?: string; body: unknown; headers?: Record<string, string> }

async function send(path: string, { method = 'POST', type = 'application/json', body, headers = {} }: Sent) {
  const bytes = body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(server.url + path, {
    method,
    body: bytes as NonNullable<RequestInit['body']>,
    headers: { authorization: basicAuth(), 'content-type': type, project_id, ...headers },
  })
  const text = await answer.text()
  expect([path, answer.status, answer.status === 200 ? '' : text]).toEqual([path, 200, ''])
  return text
}

async function sendOverGrpc(path: string, message: Uint8Array): Promise<void> {
  // The line beside the address of the server.
  const [, address] = await eventually(() => {
    const found = /OTLP: (\S+) \(gRPC\)/.exec(server.output())
    if (found === null) throw new Error('the server named no port of gRPC')
    return found
  })
  const session = connect(`http://${address}`)
  try {
    const failed = new Promise<never>((_, reject) => session.once('error', reject))
    const call = callOver(session, path, [framed(message)], { authorization: basicAuth(), project_id })
    const { status, message: told } = await Promise.race([call, failed])
    expect([path, status, told]).toEqual([path, 0, ''])
  } finally {
    session.destroy()
  }
}

let count = 0
/** An address whose first part stands nowhere else. */
const marker = (): string => `marker${String(++count).padStart(6, '0')}x@secret.example.com`
const withMarker = () => `write to ${marker()} now`
const base64 = (bytes: number) => Buffer.alloc(bytes, 'x').toString('base64')

const at = () => new Date().toISOString()
const ids = () => ({ project_id, id: uuidv7(), trace_id: uuidv7() })
const start = () => ({
  ...ids(),
  op_name: `op of ${marker()}`,
  started_at: at(),
  display_name: marker(),
  attributes: { note: withMarker() },
  inputs: { text: withMarker(), args: JSON.stringify({ to: marker() }) },
})
const end = (id = uuidv7()) => ({
  project_id,
  id,
  ended_at: at(),
  output: [withMarker()],
  exception: withMarker(),
  summary: { note: withMarker() },
})
const attribute = (key: string, value = withMarker()) => ({ key, value: { stringValue: value } })
const now = () => `${BigInt(Date.now()) * 1_000_000n}`
const hex = (length: number) => uuidv7().replaceAll('-', '').slice(-length)
const spans = () => ({
  resourceSpans: [
    {
      resource: { attributes: [attribute('owner')] },
      scopeSpans: [
        {
          scope: { name: 'test', attributes: [attribute('who')] },
          spans: [
            {
              traceId: hex(32),
              spanId: hex(16),
              name: `chat with ${marker()}`,
              startTimeUnixNano: now(),
              endTimeUnixNano: now(),
              attributes: [
                attribute('gen_ai.system', 'openai'),
                attribute('gen_ai.request.model'),
                { key: 'gen_ai.usage.input_tokens', value: { intValue: 7 } },
                attribute('input.value', JSON.stringify({ messages: [{ content: withMarker() }] })),
                attribute('output.value'),
                attribute('other'),
              ],
              events: [{ timeUnixNano: now(), name: 'exception', attributes: [attribute('exception.message')] }],
              links: [{ traceId: hex(32), spanId: hex(16), attributes: [attribute('link')] }],
              status: { code: 2, message: withMarker() },
            },
          ],
        },
      ],
    },
  ],
})
const logs = () => ({
  resourceLogs: [
    {
      resource: { attributes: [attribute('owner')] },
      scopeLogs: [
        {
          scope: { name: 'test', attributes: [attribute('who')] },
          logRecords: [
            {
              timeUnixNano: now(),
              traceId: hex(32),
              spanId: hex(16),
              severityText: marker(),
              eventName: 'claude_code.user_prompt',
              body: { stringValue: withMarker() },
              attributes: [attribute('prompt'), attribute('session.id', 's1'), attribute('other')],
            },
          ],
        },
      ],
    },
  ],
})
/** As protobuf has them: ids as bytes. */
const binary = (request: object): object =>
  JSON.parse(JSON.stringify(request), (key, value) =>
    /^(?:trace|span)Id$/.test(key) ? Buffer.from(value as string, 'hex').toString('base64') : value,
  )

const feedback = () => ({
  project_id,
  weave_ref: `weave:///${project_id}/call/${uuidv7()}`,
  feedback_type: `of ${marker()}`,
  payload: { note: withMarker(), deep: [{ x: withMarker() }] },
})

const logsPath = exportPath.replaceAll('trace', 'logs').replaceAll('Trace', 'Logs')
const protobuf = 'application/x-protobuf'
const writes: Record<string, () => Promise<unknown>> = {
  start: () => send('/call/start', { body: { start: start() } }),
  end: () => send('/call/end', { body: { end: end() } }),
  pair: () => {
    const one = start()
    const batch = [
      { mode: 'start', req: { start: one } },
      { mode: 'end', req: { end: end(one.id) } },
    ]
    return send('/call/upsert_batch', { body: { batch } })
  },
  complete: () => {
    const batch = Array.from({ length: 5 }, () => ({ ...start(), ...end(uuidv7()), trace_id: uuidv7() }))
    return send(`/v2/${project_id}/calls/complete`, { body: { batch } })
  },
  large: () => {
    const inputs = { texts: Array.from({ length: 12_000 }, () => `${'filler '.repeat(15)}${marker()}`) }
    return send('/call/start', { body: { start: { ...start(), inputs } } })
  },
  content: () => {
    const inputs = { image: `data:image/png;base64,${base64(500_000)}`, long: `${'long '.repeat(4_000)}${marker()}` }
    return send('/call/start', { body: { start: { ...start(), inputs } } })
  },
  name: () => send('/call/update', { body: { project_id, call_id: uuidv7(), display_name: marker() } }),
  feedback: () => send('/feedback/create', { body: feedback() }),
  queue: () =>
    send('/annotation_queues', { body: { project_id, name: marker(), description: withMarker(), scorer_refs: [] } }),
  object: () => {
    const obj = { project_id, object_id: `o${++count}`, val: { note: withMarker(), deep: [{ to: marker() }] } }
    return send('/obj/create', { body: { obj } })
  },
  table: () => {
    const rows = [{ note: withMarker() }, { args: JSON.stringify({ to: marker() }) }]
    return send('/table/create', { body: { table: { project_id, rows } } })
  },
  'feedback in a batch': () => send('/feedback/batch/create', { body: { batch: [feedback(), feedback()] } }),
  'spans as JSON': () => send('/otel/v1/traces', { body: spans() }),
  'spans as protobuf': () => send('/otel/v1/traces', { type: protobuf, body: encodeRequest(binary(spans())) }),
  'spans over gRPC': () => sendOverGrpc(exportPath, encodeRequest(binary(spans()))),
  'logs over gRPC': () => sendOverGrpc(logsPath, encodeLogsRequest(binary(logs()))),
  'logs as JSON': () => send('/otel/v1/logs', { body: logs() }),
  'logs as protobuf': () => send('/otel/v1/logs', { type: protobuf, body: encodeLogsRequest(binary(logs())) }),
}

/** Markers in a text, a few of them. */
const seen = (text: string): string[] => [...text.matchAll(/marker\d{6}x/g)].slice(0, 3).map(([one]) => one)

it('a masked value is in no file, table or line of the log of a process that was killed while it wrote', async () => {
  const rules = { sets: ['@credentials'], objects: true, rules: [{ id: 'mail', detect: 'email', action: 'mask' }] }
  await send(`/v2/${project_id}/masking`, { method: 'PUT', body: rules })
  for (const write of Object.values(writes)) await write()
  for (let round = 0; round < runs(1, 20); round++) {
    const names = Object.keys(writes)
    // After each round's own number of answers, while the others are under way.
    const enough = Promise.withResolvers<void>()
    let answers = 0
    const sending = Array.from({ length: 40 }, async (_, n) => {
      await writes[names[(n + round) % names.length] as string]?.()
      if (++answers === 1 + ((round * 7) % 30)) enough.resolve()
    })
    const settled = Promise.allSettled(sending)
    await Promise.race([enough.promise, settled])
    await server.kill()
    await settled
    printed += server.output()
    server = await startChildServer(folder, env)
  }
  const stats = await send('/calls/query_stats', { body: { project_id } })
  expect(JSON.parse(stats).count).toBeGreaterThan(8)
  const listed = await send('/calls/stream_query', { body: { project_id } })
  expect(listed).toContain('write to [email] now')
  expect(seen(listed)).toEqual([])
  const objects = await send('/objs/query', { body: { project_id, filter: {} } })
  expect([objects.includes('write to [email] now'), seen(objects)]).toEqual([true, []])
  await server.stop()
  printed += server.output()
  expect(seen(printed)).toEqual([])
  expect(await placesInFolder(folder, 'marker0', 50)).toEqual([])
  // Large records and files lie there, and none holds a marker either.
  expect(await s3.keys()).not.toEqual([])
  expect(await filesWith(s3.directory, 'marker0')).toEqual([])
})

/** Files below a folder that hold a text. */
async function filesWith(of: string, text: string): Promise<string[]> {
  const entries = await readdir(of, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(paths.map(async (path) => ((await readFile(path)).includes(text) ? path : '')))
  return found.filter(Boolean)
}

it('a masked value is in nothing that the broker keeps', async ({ skip, onTestFinished }) => {
  const broker: Broker = await startBroker()
  onTestFinished(() => broker.dispose())
  if (broker.folder === undefined) return skip('the files of a broker in a container are out of reach')
  await server.stop()
  const installation = await createInstallation([broker.address], { ...env, CALLHOUSE_MASK_FLOOR: '@contact' })
  onTestFinished(() => installation.remove())
  server = await installation.start('ingest')
  // Sets leave objects and tables alone, unless rules say so.
  for (const [name, write] of Object.entries(writes)) if (!/^(?:object|table)$/.test(name)) await write()
  await server.stop()
  await broker.stop()
  expect((await filesWith(broker.folder, 'write to [email] now')).some((path) => path.includes('calls-'))).toBe(true)
  expect(await filesWith(broker.folder, 'marker0')).toEqual([])
  expect(seen(server.output())).toEqual([])
})
