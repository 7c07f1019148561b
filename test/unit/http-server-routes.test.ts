// Routes about the server itself for owners of everything, over HTTP: settings without secrets, and refused rows.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { shownSettings } from '../../services/app/shown-settings.ts'
import { createServerRoutes } from '../../services/query/service/server-routes.ts'
import { json, send, startServer, type TestServer } from '../fixtures/http-server.ts'

const found = (n: number) => ({
  id: `letter-${n}`,
  topic: 'calls',
  partition: 0,
  offset: n,
  rowIndex: 3,
  reason: `no ${n}`,
  at: new Date(n * 1_000).toISOString(),
  ...(n === 2 && { replayedAt: new Date(9_000).toISOString() }),
})

let server: TestServer

beforeAll(async () => {
  const loaded = loadConfig({
    env: {
      CALLHOUSE_KEYS: 'tester:hush',
      CALLHOUSE_CLICKHOUSE_PASSWORD: 'hush',
      CALLHOUSE_SECRET_OPENAI: 'hush',
      CALLHOUSE_CLICKHOUSE_URL: 'https://me:hush@store.example:8443',
      CALLHOUSE_LOG_LEVEL: 'warn',
    },
    argv: [],
  })
  if (!loaded.ok) throw new Error(loaded.lines.join())
  const row = '{"n":1.0,"text":"\u2028"}'
  const letters = [1, 2, 3].map(found)
  const deadLetters = {
    list: async () => letters.map((one) => ({ ...one, sizeBytes: row.length })),
    show: async (id: string) => letters.filter((one) => one.id === id).map((one) => ({ ...one, row }))[0],
    replay: async (id: string) => ({ replayed: id === 'all' ? 2 : 1, remaining: 0 }),
  }
  server = await startServer(
    createServerRoutes({
      settings: () => shownSettings(loaded.config),
      status: () => Promise.reject(new Error('not asked here')),
      deadLetters,
    }),
  )
})
afterAll(() => server.stop())

it('the server tells every setting with its value and where it is from, and of secrets that there are some', async () => {
  const answer = await send(server.port, '/server/settings')
  expect(answer.status).toBe(200)
  expect(answer.text).not.toContain('hush')
  const { settings, secrets } = json(answer) as { settings: Record<string, unknown>[]; secrets: string[] }
  const of = (env: string) => settings.find((one) => one.env === env)
  expect(of('CALLHOUSE_LOG_LEVEL')).toMatchObject({ name: 'logLevel', flag: '--log-level', value: 'warn' })
  expect(of('CALLHOUSE_LOG_LEVEL')?.is_default).toBe(false)
  expect(of('CALLHOUSE_PORT')).toMatchObject({ value: '6400', is_default: true })
  expect(of('CALLHOUSE_CLICKHOUSE_PASSWORD')).toMatchObject({ value: null, is_default: false })
  expect(of('CALLHOUSE_CLICKHOUSE_URL')?.value).toBe('https://***@store.example:8443')
  expect(secrets).toEqual(['CALLHOUSE_SECRET_OPENAI'])
})

it('the server lists refused rows, the latest first, a page at a time, and shows one as it stood in the log', async () => {
  const list = (body: object) =>
    send(server.port, '/server/deadletters/query', { method: 'POST', body: JSON.stringify(body) })
  expect(json(await list({ limit: 2 }))).toMatchObject({
    total: 3,
    dead_letters: [
      { id: 'letter-3', replayed_at: null, row_index: 3, size_bytes: 20 },
      { id: 'letter-2', replayed_at: '1970-01-01T00:00:09.000Z' },
    ],
  })
  expect(json(await list({ limit: 2, offset: 2 }))).toMatchObject({ dead_letters: [{ id: 'letter-1' }] })
  expect((await list({ limit: 0 })).status).toBe(422)
  const one = await send(server.port, '/server/deadletters/letter-1')
  expect(json(one)).toMatchObject({ reason: 'no 1', row: '{"n":1.0,"text":"\u2028"}' })
  expect((await send(server.port, '/server/deadletters/none')).status).toBe(404)
})

it('the server sends one row again, or all of them', async () => {
  const replay = (id: string) => send(server.port, `/server/deadletters/${id}/replay`, { method: 'POST' })
  expect(json(await replay('letter-1'))).toEqual({ replayed: 1, remaining: 0 })
  expect(json(await replay('all'))).toEqual({ replayed: 2, remaining: 0 })
  expect((await replay('none')).status).toBe(404)
})
