// The file of keys when it breaks or goes away: who had a key is still let in, and everyone is told.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { examineMachine } from '../../services/app/doctor.ts'
import { startCallhouse } from '../../services/app/server.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
let path: string
beforeAll(async () => {
  server = await startLiveServer()
  path = join(server.dataDir, 'keys.json')
})
afterAll(() => server.remove())

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
  return findings.find(({ check }) => check === 'keys.json')
}

it.each<[string, (text: string) => void, RegExp]>([
  ['is cut off', (text) => writeFileSync(path, text.slice(0, -20)), /keys\.json: not JSON$/],
  ['is empty', () => writeFileSync(path, ''), /keys\.json: not JSON$/],
  ['has a role of no version', (text) => writeFileSync(path, text.replace('read', 'rea')), /keys\.0\.role Invalid/],
  ['is gone', () => rmSync(path), /keys\.json is gone$/],
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
    reasons: { keys: 'the file of keys cannot be used; those before stay' },
  })
  expect(told().slice(before)).toEqual([expect.objectContaining({ reason: expect.stringMatching(reason) })])
  writeFileSync(path, whole)
  expect(await health()).toMatchObject({ status: 'ok', checks: { log: 'ok' } })
  expect(told().at(-1).msg).toContain('can be used again')
  command().revoke(id)
  // For an unknown key the file is looked at at once.
  expect([await status('unknown'), await status(key)]).toEqual([401, 401])
})

it('a broken file stops a start and commands with one line, and is not written over', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-keys-'))
  const file = join(dataDir, 'keys.json')
  try {
    writeFileSync(file, '{"keys":')
    const line = `${file}: not JSON; mend the file or take it from a backup`
    const config = { ...server.config, dataDir }
    await expect(startCallhouse(config, createLogger({ level: 'silent' }))).rejects.toThrow(line)
    expect(() => openKeys({ dataDir, configured: ['a:b'] })).toThrow(line)
    expect((await examineMachine(config)).find(({ check }) => check === 'keys.json')).toMatchObject({
      ...{ verdict: 'fail', says: line },
    })
    writeFileSync(file, '{"keys":[]}')
    const keys = openKeys({ dataDir, configured: [] })
    writeFileSync(file, '{"keys":[')
    expect(() => keys.create({ userId: 'u', role: 'read' })).toThrow(`${file}: not JSON`)
    expect(readFileSync(file, 'utf8')).toBe('{"keys":[')
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})
