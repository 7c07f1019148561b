// Bench of objects, tables, files and refs: what SDKs publish and read back, long tables, many refs, many uploads.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installSdk, sdkPython } from '../../test/fixtures/python-sdk.ts'
import { type BenchServer, createClient, median, type Post, quantile, startCallhouseServer } from './process.ts'

const project = 'bench/objects'
const goal = (text: string) => ` (goal ${text})`
const line = (name: string, value: string, wanted = '') => process.stdout.write(`| ${name} | ${value}${wanted} |\n`)
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`

async function answered<T>(post: Post, path: string, body: unknown): Promise<{ json: T; ms: number; bytes: number }> {
  const answer = await post(path, typeof body === 'string' ? body : JSON.stringify(body))
  if (answer.status !== 200)
    throw new Error(`${path} answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
  return { json: JSON.parse(answer.body.toString()) as T, ms: answer.ms, bytes: answer.body.length }
}

const row = (i: number) =>
  `{"id":${i},"question":"what is the state of order ${i * 7919}?","answer":"order ${i * 7919} left the house on day ${i % 365}","score":${(i % 1000) / 1000}}`

/** Peak of the server's resident memory while `work` runs, above what it was before. */
async function withPeak<T>(server: BenchServer, work: () => Promise<T>): Promise<{ result: T; peakMb: number }> {
  const before = server.residentMb()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, server.residentMb())
  }, 20)
  try {
    return { result: await work(), peakMb: peak - before }
  } finally {
    clearInterval(watch)
  }
}

async function sdkDataset(server: BenchServer, home: string): Promise<void> {
  await installSdk()
  const program = fileURLToPath(new URL('dataset.py', import.meta.url))
  const url = `http://127.0.0.1:${server.port}`
  const runs: { publish: number; read: number }[] = []
  for (let n = 0; n < 3; n++) {
    const output = execFileSync(sdkPython, [program, project, String(n)], {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        WF_TRACE_SERVER_URL: url,
        WANDB_BASE_URL: url,
        WANDB_API_KEY: 'bench-key',
        WEAVE_PRINT_CALL_LINK: 'false',
        WEAVE_USE_SERVER_CACHE: 'false',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    runs.push(JSON.parse(output.toString().trim().split('\n').at(-1) as string))
  }
  line('Python SDK, publish 10,000 rows', ms(1000 * median(runs.map((run) => run.publish))), goal('1,500 ms'))
  line('Python SDK, read them back', ms(1000 * median(runs.map((run) => run.read))), goal('500 ms'))
}

async function longTable(server: BenchServer, post: Post, rows: number): Promise<void> {
  const chunk = 10_000
  const began = performance.now()
  const digests: string[] = []
  for (let from = 0; from < rows; from += chunk) {
    const texts = Array.from({ length: Math.min(chunk, rows - from) }, (_, i) => row(from + i))
    const body = `{"table":{"project_id":"${project}","rows":[${texts.join(',')}]}}`
    const { json } = await answered<{ row_digests: string[] }>(post, '/table/create', body)
    for (const digest of json.row_digests) digests.push(digest)
  }
  const chunksMs = performance.now() - began
  const joined = await answered<{ digest: string }>(post, '/table/create_from_digests', {
    project_id: project,
    row_digests: digests,
  })
  line(`table of ${rows} rows, in chunks of ${chunk}`, `${ms(chunksMs)}, joined in ${ms(joined.ms)}`)
  const { digest } = joined.json
  type Page = { rows: { original_index: number; digest: string }[] }
  const query = (more: Record<string, unknown>) =>
    answered<Page>(post, '/table/query', { project_id: project, digest, ...more })
  await answered(post, '/table/query_stats', { project_id: project, digest })
  for (const offset of [0, Math.floor(rows / 2), rows - 100]) {
    const times: number[] = []
    for (let n = 0; n < 15; n++) {
      const { json, ms: took } = await query({ limit: 100, offset })
      if (json.rows[0]?.original_index !== offset || json.rows.length !== 100) throw new Error('wrong page')
      if (n > 1) times.push(took)
    }
    line(`page of 100 at offset ${offset}`, `${ms(median(times))}, slowest ${ms(quantile(times, 1))}`, goal('30 ms'))
  }
  const { result, peakMb } = await withPeak(server, () => readAll(server, digest))
  line(
    `all ${result.rows} rows`,
    `${ms(result.totalMs)}, first byte after ${ms(result.firstMs)}, ${(result.bytes / 2 ** 20).toFixed(0)} MiB, resident memory +${peakMb.toFixed(0)} MB`,
  )
}

async function readAll(server: BenchServer, digest: string) {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${server.port}/table/query`, {
    method: 'POST',
    headers: { authorization: 'Bearer bench-key' },
    body: JSON.stringify({ project_id: project, digest }),
  })
  let firstMs = 0
  let bytes = 0
  let rows = 0
  let tail = ''
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    if (firstMs === 0) firstMs = performance.now() - began
    bytes += piece.length
    const text = tail + Buffer.from(piece).toString('latin1')
    rows += text.split('"original_index":').length - 1
    tail = text.slice(-17)
    rows -= tail.split('"original_index":').length - 1
  }
  rows += tail.split('"original_index":').length - 1
  return { firstMs, totalMs: performance.now() - began, bytes, rows }
}

async function refs(post: Post): Promise<void> {
  const count = 1000
  const objects: string[] = []
  await Promise.all(
    Array.from({ length: 20 }, async (_, lane) => {
      for (let i = lane; i < count; i += 20) {
        const val = { i, nested: { list: [{ text: `value ${i}` }] } }
        const obj = { project_id: project, object_id: `object-${i % 100}`, val }
        const { json } = await answered<{ digest: string }>(post, '/obj/create', { obj })
        objects[i] = `weave:///${project}/object/object-${i % 100}:${json.digest}`
      }
    }),
  )
  const rows = Array.from({ length: count }, (_, i) => row(i))
  const created = await answered<{ digest: string; row_digests: string[] }>(
    post,
    '/table/create',
    `{"table":{"project_id":"${project}","rows":[${rows.join(',')}]}}`,
  )
  const dataset = { _type: 'Dataset', rows: `weave:///${project}/table/${created.json.digest}` }
  const { json } = await answered<{ digest: string }>(post, '/obj/create', {
    obj: { project_id: project, object_id: 'dataset', val: dataset },
  })
  const set = `weave:///${project}/object/dataset:${json.digest}/attr/rows/id/`
  const batches: Record<string, string[]> = {
    'objects, whole': objects,
    'objects, a path into each': objects.map((ref) => `${ref}/key/nested/key/list/index/0/key/text`),
    'rows of a dataset': created.json.row_digests.map((digest) => `${set}${digest}`),
  }
  for (const [name, batch] of Object.entries(batches)) {
    const times: number[] = []
    for (let n = 0; n < 12; n++) {
      const { json: answer, ms: took } = await answered<{ vals: unknown[] }>(post, '/refs/read_batch', { refs: batch })
      if (answer.vals.length !== count || answer.vals.includes(null)) throw new Error('wrong values')
      if (n > 1) times.push(took)
    }
    line(`1,000 refs: ${name}`, `${ms(median(times))}, slowest ${ms(quantile(times, 1))}`, goal('50 ms'))
  }
  const times: number[] = []
  for (let n = 0; n < 12; n++) {
    const obj = { project_id: project, object_id: 'single', val: { n } }
    times.push((await answered(post, '/obj/create', { obj })).ms)
  }
  line('/obj/create, one at a time', ms(median(times)))
}

async function uploads(server: BenchServer): Promise<void> {
  const send = async (i: number) => {
    const body = new FormData()
    body.set('project_id', project)
    const bytes = Buffer.alloc(2 ** 20, `upload ${i} `)
    body.set('file', new Blob([new Uint8Array(bytes)]), 'x')
    const response = await fetch(`http://127.0.0.1:${server.port}/file/create`, {
      method: 'POST',
      headers: { authorization: 'Bearer bench-key' },
      body,
    })
    if (response.status !== 200) throw new Error(`/file/create answered ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
  for (const round of [0, 1, 2]) {
    const began = performance.now()
    const { peakMb } = await withPeak(server, () =>
      Promise.all(Array.from({ length: 100 }, (_, i) => send(round * 100 + i))),
    )
    line(
      `100 uploads of 1 MiB at once, round ${round + 1}`,
      `${ms(performance.now() - began)}, resident memory +${peakMb.toFixed(0)} MB`,
    )
  }
}

/** @param rows length of the long table */
export async function benchObjects(rows: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir, { CALLHOUSE_WIRE_PREFIX: 'wb', CALLHOUSE_MIN_FREE_BYTES: '0' })
  // Each step its own: the server closes connections that were idle while another one ran.
  const client = () => createClient(server.port, 20)
  process.stdout.write('| what | measured |\n|---|---|\n')
  try {
    await uploads(server)
    await refs(client())
    await sdkDataset(server, dir)
    await longTable(server, client(), rows)
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
