// The findings of the doctor: none on a sound installation, and one for each thing that was made unsound.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Config, loadConfig } from '../../services/app/config.ts'
import { examineMachine, examineStore, type Finding, findingsText } from '../../services/app/doctor.ts'
import { configuredAddresses, exporterText } from '../../services/app/otlp-ports.ts'
import type { Store } from '../../services/core/store/store.ts'
import { ageOfPrices } from '../../services/query/costs/price-age.ts'
import { createTestStore } from '../fixtures/store.ts'

let dir: string
let store: Store
let remove: () => Promise<void>

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-doctor-'))
  ;({ store, remove } = await createTestStore())
})
afterAll(async () => {
  await remove()
  await rm(dir, { recursive: true, force: true })
})

const configOf = (...flags: string[]): Config => {
  const loaded = loadConfig({ env: {}, argv: ['--data-dir', dir, '--min-free-bytes', '0', ...flags] })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  return loaded.config
}
const verdicts = (findings: Finding[]) => Object.fromEntries(findings.map(({ check, verdict }) => [check, verdict]))

it('the doctor finds nothing wrong with a sound machine and fresh tables', async () => {
  const machine = await examineMachine(configOf(), Date.parse(ageOfPrices(0).read))
  const findings = [...machine, ...(await examineStore(configOf(), store))]
  const wrong = findings.filter(({ check, verdict }) => verdict !== 'ok' && check !== 'disk')
  expect(wrong).toEqual([])
  expect(findingsText(findings)).toMatch(/^ok {4}tables +\d\d, synced to disk$/m)
})

it('the doctor finds prices that were read long ago', async () => {
  const { read } = ageOfPrices(0)
  const after = async (days: number) =>
    (await examineMachine(configOf(), Date.parse(read) + days * 86_400_000)).find(({ check }) => check === 'prices')
  expect(await after(90)).toMatchObject({
    verdict: 'ok',
    says: expect.stringContaining(`read on ${read}, 90 days ago`),
  })
  expect(await after(91)).toMatchObject({ verdict: 'warn', says: expect.stringContaining('CALLHOUSE_PRICES_FILE') })
})

it.each([
  [[], 'http://127.0.0.1:4317', 'grpc'],
  [['--otlp-grpc-port', 'off'], 'http://127.0.0.1:4318', 'http/protobuf'],
  [['--otlp-grpc-port', 'off', '--otlp-http-port', 'off', '--host', '::1'], 'http://[::1]:6400', 'http/protobuf'],
  [['--host', '0.0.0.0', '--tls-cert', 'cert', '--tls-key', 'key'], 'https://<host>:4317', 'grpc'],
])('the doctor tells what an exporter reads from its environment, with %j', (flags, endpoint, protocol) => {
  const config = configOf(...flags)
  const text = exporterText(configuredAddresses(config), config.tlsCert !== undefined)
  expect(text.split('\n').slice(1, 3)).toEqual([
    `  export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    `  export OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}`,
  ])
})

it('the doctor prints the lines for an exporter below its findings', async () => {
  const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))
  const print = (...flags: string[]) =>
    promisify(execFile)(process.execPath, [main, 'doctor', '--data-dir', dir, ...flags]).catch((error) => error)
  expect((await print()).stdout).toMatch(
    /ok {4}node .*\n\nan OpenTelemetry exporter .*\n {2}export OTEL_\w+ENDPOINT=http:.*4317\n/s,
  )
  expect(JSON.parse((await print('--json')).stdout)).toContainEqual(expect.objectContaining({ check: 'node' }))
})

it('the doctor finds settings that lose or refuse what is written', async () => {
  const config = configOf(
    '--memory-cap-bytes',
    String(2 ** 50),
    '--min-free-bytes',
    String(2 ** 50),
    '--host',
    '0.0.0.0',
    '--keys',
    'me:short',
    '--kafka-brokers',
    '127.0.0.1:9092',
  )
  expect(verdicts(await examineMachine(config))).toMatchObject({
    memory: 'fail',
    disk: 'fail',
    keys: 'warn',
    kafka: 'warn',
    files: 'warn',
  })
})

it('the doctor finds that nobody can sign in to the page where roles share a log and no master key', async () => {
  const kafka = ['--kafka-brokers', 'localhost:9092']
  const found = async (...flags: string[]) => verdicts(await examineMachine(configOf(...flags)))['web page']
  expect(await found(...kafka)).toBe('warn')
  expect(await found(...kafka, '--master-key', Buffer.alloc(32, 7).toString('base64'))).toBeUndefined()
  expect(await found(...kafka, '--page', 'false')).toBeUndefined()
  expect(await found()).toBeUndefined()
})

it('the doctor finds a data folder that others can enter', async () => {
  const accessOf = async () => (await examineMachine(configOf())).find(({ check }) => check === 'access')
  await mkdir(join(dir, 'log'), { mode: 0o700 })
  await chmod(dir, 0o755)
  expect(await accessOf()).toMatchObject({ verdict: 'warn' })
  await chmod(join(dir, 'log'), 0o755)
  expect(await accessOf()).toMatchObject({
    verdict: 'fail',
    says: expect.stringContaining(`${dir} (755), ${join(dir, 'log')} (755)`),
  })
  await chmod(dir, 0o700)
  expect(await accessOf()).toMatchObject({ verdict: 'ok' })
})

it('the doctor finds tables that are not synced', async () => {
  const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
  await run('CREATE TABLE callhouse.loose (a String) ENGINE = MergeTree ORDER BY a')
  const findings = await examineStore(configOf(), store)
  expect(findings.find(({ check }) => check === 'tables')).toMatchObject({
    verdict: 'fail',
    says: expect.stringContaining('loose'),
  })
  await run('DROP TABLE callhouse.loose')
})

/** Answers each question by its name; what is not said is empty. */
const storeOf = (answers: Record<string, unknown[]>): Pick<Store, 'rows'> => ({
  rows: async <T>({ name }: { name: string }) => (answers[name] ?? []) as T[],
})
const server = (more: Record<string, unknown[]> = {}) =>
  storeOf({
    'doctor.server': [{ version: '26.7.2.1', now: String(Date.now()), zone: 'UTC' }],
    'doctor.settings': [{ logs: [], cap: '0', ratio: '0.6' }],
    'doctor.disks': [{ name: 'default', free: 6e10, total: 1e11 }],
    ...more,
  })
const onServer = ['--clickhouse-url', 'http://127.0.0.1:8123']

it('the doctor finds nothing wrong with a server that has our settings', async () => {
  const findings = await examineStore(configOf(...onServer), server())
  expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['engine', 'engine disk', 'engine logs', 'engine memory']),
  )
})

it('the doctor finds a server that is old, full, busy with itself, without its views, or not replicated where it should be', async () => {
  const tables = [{ name: 'calls', engine: 'ReplacingMergeTree', full: '' }]
  const findings = await examineStore(
    configOf(...onServer, '--clickhouse-cluster', 'main'),
    server({
      'doctor.server': [{ version: '25.3.1.1', now: String(Date.now() - 60_000), zone: 'UTC' }],
      'doctor.settings': [{ logs: ['query_log', 'part_log'], cap: '0', ratio: '0.9' }],
      'doctor.disks': [
        { name: 'default', free: 4e9, total: 1e11 },
        { name: 'cold', free: 1e10, total: 1e11 },
      ],
      'doctor.replicated': tables,
      'doctor.tables': tables,
    }),
  )
  expect(findings.filter(({ verdict }) => verdict !== 'ok').map(({ check, verdict }) => `${verdict} ${check}`)).toEqual(
    [
      'fail views',
      'warn engine',
      'fail engine disk',
      'warn engine disk',
      'warn engine logs',
      'warn engine memory',
      'fail cluster',
      'fail clock',
      'fail tables',
    ],
  )
})
