// Settings that are secret and stand in files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeConfig, loadConfig } from '../../services/app/config.ts'

const value = 'value-that-nobody-sees'
const key = Buffer.alloc(32, 1).toString('base64')
let folder: string
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'callhouse-secret-files-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const load = (env: Record<string, string>, argv: string[] = []) => loadConfig({ env, argv })
const linesOf = (env: Record<string, string>) => {
  const loaded = load(env)
  return loaded.ok ? [] : loaded.lines
}

it.each([
  ['CALLHOUSE_ENGINE_KEY', 'engineKey', value],
  ['CALLHOUSE_CLICKHOUSE_PASSWORD', 'clickhousePassword', value],
  ['CALLHOUSE_KAFKA_PASSWORD', 'kafkaPassword', value],
  ['CALLHOUSE_OIDC_CLIENT_SECRET', 'oidcClientSecret', value],
  ['CALLHOUSE_KEYS', 'keys', [`ann:${value}`]],
  ['CALLHOUSE_MASTER_KEYS_OLD', 'masterKeysOld', [key]],
] as const)('%s may stand in a file', (name, member, expected) => {
  const loaded = load({ [`${name}_FILE`]: file(name, `${expected}\n`) })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  expect(loaded.config[member]).toEqual(expected)
  const shown = describeConfig(loaded.config)
  expect(shown.find((row) => row.name === name)?.value).toBe('***')
  expect(JSON.stringify(shown)).not.toContain(value)
})

it('secrets of providers may stand in files, and their spaces inside and at the ends count', () => {
  const loaded = load({ CALLHOUSE_SECRET_A_KEY_FILE: file('a', ` {"a": 1}\r\n`), CALLHOUSE_SECRET_B: 'b' })
  expect(loaded).toMatchObject({ ok: true, config: { secrets: { A_KEY: ' {"a": 1}', B: 'b' } } })
})

it('settings that are no secrets may not stand in files, and those that name files stay what they are', () => {
  const path = file('port', '7000')
  expect(linesOf({ CALLHOUSE_PORT_FILE: path })).toEqual([
    expect.stringContaining('Unknown setting CALLHOUSE_PORT_FILE'),
  ])
  expect(load({ CALLHOUSE_PROVIDERS_FILE: path, CALLHOUSE_MASTER_KEY_FILE: path })).toMatchObject({
    ok: true,
    config: { providersFile: path, masterKeyFile: path, masterKey: '' },
  })
})

it('a setting that is given twice is refused, unless one of the two is empty', () => {
  const path = file('twice', value)
  expect(linesOf({ CALLHOUSE_ENGINE_KEY: 'x', CALLHOUSE_ENGINE_KEY_FILE: path })).toEqual([
    'CALLHOUSE_ENGINE_KEY and CALLHOUSE_ENGINE_KEY_FILE are both given: one of them is enough',
  ])
  expect(linesOf({ CALLHOUSE_MASTER_KEY: key, CALLHOUSE_MASTER_KEY_FILE: path })).toEqual([
    'CALLHOUSE_MASTER_KEY and CALLHOUSE_MASTER_KEY_FILE are both given: one of them is enough',
  ])
  expect(linesOf({ CALLHOUSE_ENGINE_KEY: '', CALLHOUSE_ENGINE_KEY_FILE: path })).toEqual([])
  expect(linesOf({ CALLHOUSE_ENGINE_KEY: 'x', CALLHOUSE_ENGINE_KEY_FILE: '' })).toEqual([])
})

it('a file that cannot be used is named with the reason, and nothing of it is quoted', () => {
  mkdirSync(join(folder, 'inner'))
  const names = { CALLHOUSE_ENGINE_KEY_FILE: join(folder, 'absent'), CALLHOUSE_SECRET_A_FILE: join(folder, 'inner') }
  expect(linesOf({ ...names, CALLHOUSE_KAFKA_PASSWORD_FILE: file('empty', '\n') })).toEqual([
    `CALLHOUSE_ENGINE_KEY_FILE: ${folder}/absent cannot be used: ENOENT`,
    `CALLHOUSE_SECRET_A_FILE: ${folder}/inner cannot be used: it is no file`,
    `CALLHOUSE_KAFKA_PASSWORD_FILE: ${folder}/empty cannot be used: it is empty`,
  ])
  const lines = linesOf({ CALLHOUSE_MASTER_KEYS_OLD_FILE: file('wrong', value) })
  expect(lines).toHaveLength(1)
  expect(lines.join()).not.toContain(value)
})
