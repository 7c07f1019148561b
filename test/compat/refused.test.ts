// tier: deep compat
// Published SDKs that are refused: a limit that time mends costs them time and no call, a missing right tells its user.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, postLines } from '../fixtures/child-server.ts'
import { installSdk, sdkPython } from '../fixtures/python-sdk.ts'
import { type Exchange, type RecordingProxy, startRecordingProxy } from '../fixtures/recording-proxy.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

const server = sdkServer(installSdk)
const keys = { python: '', node: '', reader: '' }
let proxy: RecordingProxy

beforeAll(async () => {
  proxy = await startRecordingProxy(() => server.url)
  const headers = { authorization: basicAuth(), 'content-type': 'application/json' }
  const send = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as { key: string }
  }
  await send('POST', '/users', { id: 'robot', kind: 'service', entity: 'refused' })
  await send('PUT', '/grants', { user_id: 'robot', scope: 'refused', role: 'writer' })
  const key = async (name: string, more: object) =>
    (await send('POST', '/keys', { user_id: 'robot', name, scopes: ['refused'], ...more })).key
  const actions = ['read', 'ingest', 'write']
  // Each has a minute of its own.
  for (const name of ['python', 'node'] as const)
    keys[name] = await key(name, { actions, limits: { calls_per_minute: 60 } })
  keys.reader = await key('reader', { actions: ['read'] })
})
afterAll(() => proxy?.close())

type Ended = { code: number | null; output: string; exchanges: Exchange[] }

/** Runs a program with a key, behind the proxy, until it ends or its time is over: Python waits five minutes for parts of calls. */
async function run(command: string, program: string, args: string[], key: string, ms = 60_000): Promise<Ended> {
  const from = proxy.exchanges.length
  const path = fileURLToPath(new URL(`./${program}`, import.meta.url))
  const child = spawn(command, [path, ...args], {
    cwd: server.home,
    timeout: ms,
    env: {
      PATH: process.env.PATH,
      HOME: server.home,
      WEAVE_SERVER_CACHE_DIR: join(server.home, 'weave-cache'),
      WF_TRACE_SERVER_URL: proxy.url,
      WANDB_BASE_URL: proxy.url,
      WANDB_API_KEY: key,
      WEAVE_PRINT_CALL_LINK: 'false',
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output, exchanges: proxy.exchanges.slice(from) }
}

const storedOf = async (project_id: string) => {
  const calls = await postLines<{ ended_at: string | null }>(server.url, '/calls/stream_query', { project_id })
  return { calls: calls.length, ended: calls.filter(({ ended_at }) => ended_at !== null).length }
}

const sdks = [
  ['Python', 'python', sdkPython, 'refused.py'],
  ['Node', 'node', process.execPath, 'refused.mjs'],
] as const

it.each(sdks)(
  'the %s SDK sends again what was refused for a while, and loses nothing',
  async (_, sdk, command, program) => {
    const project = `refused/${sdk}`
    const { code, exchanges } = await run(command, program, [project, '60', '12'], keys[sdk])
    const refused = exchanges.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    // It is not asked again and again: five times in the time that the limit needs.
    expect(refused.length).toBeLessThan(8)
    for (const { retryAfter } of refused) expect(retryAfter).toBeGreaterThan(0)
    expect([code, await storedOf(project)]).toEqual([0, { calls: 72, ended: 72 }])
  },
)

it.each(sdks)('the %s SDK tells who may not write, and gives up', async (_, sdk, command, program) => {
  const project = `refused/${sdk}-403`
  const { output, exchanges } = await run(command, program, [project, '3', '1'], keys.reader, 20_000)
  expect(output).toContain('Key has no right to ingest')
  const refused = exchanges.filter(({ status }) => status === 403)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(10)
  expect(await storedOf(project)).toEqual({ calls: 0, ended: 0 })
})
