// tier: deep compat
// Published clients of other products, set up as their users set them up but for the address and the key: their spans
// are calls of the project that they mean.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { pythonEnvironment, runProgram } from '../fixtures/python.ts'

type Sender = { project: string; call: object }
const senders: Record<string, Sender> = {
  // A key as the password of Basic, and its only project.
  langfuse: {
    project: 'acme/only',
    call: {
      attributes: { model: 'gpt-test-1', reported_cost_usd: 0.003 },
      // Tokens from the cache are not in Langfuse's input.
      summary: { usage: { 'gpt-test-1': { prompt_tokens: 25, output_tokens: 8, cache_read_input_tokens: 5 } } },
    },
  },
  // The key alone.
  logfire: { project: 'acme/only', call: {} },
  // The others name a project, by a resource or a header.
  phoenix: { project: 'tester/my-project', call: {} },
  'phoenix over gRPC': { project: 'tester/my-project', call: {} },
  langsmith: { project: 'tester/my-project', call: {} },
  braintrust: { project: 'tester/my-project', call: {} },
  langwatch: { project: 'acme/only', call: {} },
  // Theirs is OpenTelemetry's own exporter, with headers that their documentation names.
  opik: { project: 'tester/my-project', call: {} },
  mlflow: { project: 'tester/experiment-17', call: {} },
}

/** Not all of them can be installed beside each other. */
const environments = [
  {
    products: ['langfuse', 'logfire', 'phoenix', 'phoenix over gRPC', 'langsmith', 'braintrust'],
    ...pythonEnvironment('otlp-senders-1', [
      'langfuse==5.0.4',
      'logfire==5.2.0',
      'arize-phoenix-otel==0.17.2',
      'langsmith[otel]==0.15.0',
      'braintrust[otel]==0.47.0',
    ]),
  },
  { products: ['langwatch', 'opik', 'mlflow'], ...pythonEnvironment('otlp-senders-langwatch-1', ['langwatch==1.4.0']) },
]
const dir = mkdtempSync(join(tmpdir(), 'callhouse-senders-'))
let server: LiveServer
let onlyKey = ''
beforeAll(async () => {
  await Promise.all(environments.map(({ install }) => install()))
  server = await startLiveServer(['--otlp-grpc-port', '0', '--otel-project-attribute', ''])
  const main = join(import.meta.dirname, '../../services/main.ts')
  const args = [main, 'keys', 'create', 'someone', 'writer', 'acme/only', '--data-dir', server.dataDir]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH } })
  onlyKey = /shown once\): (\S+)/.exec(stdout)?.[1] ?? ''
}, 600_000)
afterAll(async () => {
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})

describe('clients of other products', () => {
  it.each(Object.entries(senders))('%s', async (product, { project, call }) => {
    const { url, otlp } = server.now()
    const key = project === 'acme/only' ? onlyKey : 'test-key'
    const args = [product, url, otlp?.grpc as string, key, 'my project']
    const { python } = environments.find(({ products }) => products.includes(product)) ?? {}
    const id = await runProgram<string>(python as string, 'senders.py', args, { HOME: dir })
    const [found] = await server.list<object>('/calls/stream_query', {
      project_id: project,
      filter: { call_ids: [id] },
    })
    expect(found).toMatchObject({ id, ...call })
  })
})
