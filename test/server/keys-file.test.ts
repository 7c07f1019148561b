// The file of keys when it breaks or goes away: who had a key is still let in, and everyone is told.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { examineMachine } from '../../services/app/doctor.ts'
import { startCallhouse } from '../../services/app/server.ts'
import { setKeyLimits } from '../../services/cli/limits.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
let path: string
beforeAll(async () => {
  server = await startLiveServer()
  path = join(server.dataDir, 'directory.jsonl')
})
afterAll(() => server.remove())

/** As a person mends a file: by another one in its place. */
const replace = (text: string) => {
  writeFileSync(`${path}.mine`, text)
  renameSync(`${path}.mine`, path)
}
const command = () => openKeys({ dataDir: server.dataDir, configured: [] })
type Health = { status: string; checks: Record<string, string>; reasons?: Record<string, string> }
const health = async () => (await (await fetch(`${server.now().url}/health`)).json()) as Health
const status = async (key: string) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = '{"project_id":"e/p"}'
  return (await fetch(`${server.now().url}/calls/query_stats`, { method: 'POST', headers, body })).status
}
const told = () => server.lines.filter((line) => line.includes('file of keys')).map((line) => JSON.parse(line))
const verdict = async () => {
  const findings = await examineMachine(server.config)
  return findings.find(({ check }) => check === 'directory.jsonl')
}

it.each<[string, (text: string) => void, RegExp]>([
  ['is cut off', (text) => writeFileSync(path, text.slice(0, -20)), /directory\.jsonl: it was changed in place/],
  ['is empty', () => replace(''), /directory\.jsonl: it is empty$/],
  ['has a role of no version', (text) => replace(text.replace('reader', 'rea')), /line \d: grant\/u\/\*: role Invalid/],
  ['holds something else', (text) => replace(`${text}{"key":\n`), /line \d+ is not JSON$/],
  ['is gone', () => rmSync(path), /directory\.jsonl: it is gone$/],
])('a file that %s leaves the keys that were read before', async (_, damage, reason) => {
  const { id, text: key } = command().create({ userId: 'u', role: 'read' })
  expect([await status(key), (await health()).status, (await verdict())?.verdict]).toEqual([200, 'ok', 'ok'])
  const whole = readFileSync(path, 'utf8')
  const before = told().length
  damage(whole)
  expect([await status(key), await status('unknown'), await status(key)]).toEqual([200, 401, 200])
  expect(await health()).toMatchObject({
    status: 'degraded',
    checks: { log: 'ok', keys: 'degraded' },
    reasons: { keys: 'the directory of keys cannot be read; what was read before counts' },
  })
  expect(told().slice(before)).toEqual([expect.objectContaining({ reason: expect.stringMatching(reason) })])
  writeFileSync(path, whole)
  expect(await health()).toMatchObject({ status: 'ok', checks: { log: 'ok' } })
  expect(told().at(-1).msg).toContain('can be used again')
  await command().revoke(id)
  // For an unknown key the file is looked at at once.
  expect([await status('unknown'), await status(key)]).toEqual([401, 401])
})

it('a broken file, also one of an earlier version, stops a start and commands with one line', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-keys-'))
  try {
    const config = { ...server.config, dataDir }
    for (const [name, reason] of [
      ['keys.json', 'not JSON'],
      ['directory.jsonl', 'line 1 is not JSON'],
    ] as const) {
      const file = join(dataDir, name)
      writeFileSync(file, '{"keys":\n')
      const line = `${file}: ${reason}; mend the file or take it from a backup`
      await expect(startCallhouse(config, createLogger({ level: 'silent' }))).rejects.toThrow(line)
      expect(() => openKeys({ dataDir, configured: ['a:b'] })).toThrow(line)
      expect((await examineMachine(config)).find(({ check }) => check === 'directory.jsonl')).toMatchObject({
        verdict: 'fail',
        says: line,
      })
      expect(readFileSync(file, 'utf8')).toBe('{"keys":\n')
      rmSync(file)
    }
    const keys = openKeys({ dataDir, configured: [] })
    const file = join(dataDir, 'directory.jsonl')
    writeFileSync(file, '{"keys":[\n')
    await expect(keys.create({ userId: 'u', role: 'read' }).stored).rejects.toThrow(`${file}: line 1 is not JSON`)
    expect(readFileSync(file, 'utf8')).toBe('{"keys":[\n')
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

it('keys of an earlier version are taken over by a start, and go on', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-keys-'))
  const text = `ch_${'k'.repeat(40)}`
  const sha256 = createHash('sha256').update(text).digest('hex')
  const entry = {
    id: 'old',
    sha256,
    userId: 'u',
    entity: 'e',
    grants: ['e'],
    role: 'write',
    createdAt: '2026-01-01T00:00:00Z',
  }
  const content = JSON.stringify({ keys: [entry] })
  try {
    writeFileSync(join(dataDir, 'keys.json'), content)
    const keys = openKeys({ dataDir, configured: [] })
    expect(keys.find(text)).toMatchObject({ userId: 'u', entity: 'e', keyId: 'old' })
    expect(keys.find(text)?.may('delete', 'e/p' as ProjectId)).toBe(true)
    expect(keys.find(text)?.may('read', 'f/p' as ProjectId)).toBe(false)
    expect(existsSync(join(dataDir, 'keys.json'))).toBe(false)
    expect(readFileSync(join(dataDir, 'keys.json.imported'), 'utf8')).toBe(content)
    // A process that died between the two steps.
    const before = readFileSync(join(dataDir, 'directory.jsonl'), 'utf8')
    writeFileSync(join(dataDir, 'keys.json'), content)
    await openKeys({ dataDir, configured: [] }).revoke('old')
    expect(readFileSync(join(dataDir, 'directory.jsonl'), 'utf8').startsWith(before)).toBe(true)
    writeFileSync(join(dataDir, 'keys.json'), content)
    expect(openKeys({ dataDir, configured: [] }).find(text)).toBeUndefined()
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

it('a command shows and changes how much a key may take, and a running server follows', async () => {
  const limits = { bytes_per_minute: 5_000_000 }
  const { id, stored } = command().create({ userId: 'limited', role: 'reader', limits })
  await stored
  const printed: string[] = []
  const writing = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  try {
    await setKeyLimits(server.config, [id])
    await setKeyLimits(server.config, [id, 'requests_per_minute=7'])
    await setKeyLimits(server.config, [id, 'bytes_per_minute=0'])
    await expect(setKeyLimits(server.config, [id, 'calls_per_day=7'])).rejects.toThrow('is not <name>=<number>')
    await expect(setKeyLimits(server.config, ['nobody'])).rejects.toThrow('Key nobody not found')
  } finally {
    writing.mockRestore()
  }
  expect(printed).toEqual([
    `key ${id}  bytes_per_minute=5000000\n`,
    `key ${id}  bytes_per_minute=5000000  requests_per_minute=7\n`,
    `key ${id}  requests_per_minute=7\n`,
  ])
  const answer = await fetch(`${server.now().url}/keys`, { headers: { authorization: 'Bearer test-key' } })
  const shown = (await answer.text()).split('\n').find((line) => line.includes(id)) ?? '{}'
  expect(JSON.parse(shown)).toMatchObject({ limits: { requests_per_minute: 7 } })
})

it('each answer to a key that ends within 14 days says when', async () => {
  const endOf = async (days: number) => {
    const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString()
    const { text, stored } = command().create({ userId: 'u', role: 'read', expiresAt })
    await stored
    await expectSoon(() => status(text)).toBe(200)
    const headers = { authorization: `Bearer ${text}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: '{"project_id":"e/p"}' }
    const answer = await fetch(`${server.now().url}/calls/query_stats`, sent)
    return { expiresAt, told: answer.headers.get('x-callhouse-key-expires') }
  }
  const soon = await endOf(13)
  expect(soon.told).toBe(soon.expiresAt)
  expect((await endOf(15)).told).toBeNull()
})
