import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { memoryFolder } from './test/fixtures/memory-folder.ts'

// Test processes inherit it: a busy engine connection occupies a thread, and killing its query needs another one.
process.env.UV_THREADPOOL_SIZE ??= '24'

// And the compiled sources: without them each server that a test starts compiles all of its own.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

const inMemory = process.env.TMPDIR === undefined && memoryFolder()
if (inMemory) process.env.TMPDIR = inMemory

const { CALLHOUSE_CHROMIUM, CALLHOUSE_TEST_BROWSER, PATH = '' } = process.env
// Servers that tests start with what this process has refuse settings that they do not know.
delete process.env.CALLHOUSE_CHROMIUM
delete process.env.CALLHOUSE_TEST_BROWSER

const limits = { testTimeout: 120_000, hookTimeout: 240_000 }

/** Processes and engines that die and come back, minutes long: in the deep tier alone, which CI runs too. */
const deepOnly = [
  'browser/access',
  'browser/around',
  'browser/dashboard',
  'browser/datasets',
  'browser/hostile',
  'browser/hostile-judging',
  'browser/hostile-objects',
  'browser/judging',
  'browser/judging-acts',
  'browser/keys',
  'browser/list',
  'browser/marked',
  'browser/media',
  'browser/new-user',
  'browser/objects',
  'browser/read-only',
  'browser/roles',
  'browser/settings',
  'browser/settings-project',
  'browser/system',
  'browser/threads',
  'browser/trace',
  'browser/views',
  'compat/otlp-clients',
  'compat/otlp-collector',
  'compat/otlp-page',
  'compat/otlp-senders',
  'compat/otlp-telemetrygen',
  'compat/python-completions',
  'compat/python-costs',
  'compat/python-evaluate',
  'compat/python-evaluation-objects',
  'compat/python-evaluations',
  'compat/python-feedback',
  'compat/python-joined',
  'compat/python-objects',
  'compat/python-openai-events',
  'compat/python-queues',
  'compat/refused',
  'compat/start',
  'crash/audit',
  'crash/backup',
  'crash/backup-logs',
  'crash/batch-steps',
  'crash/broken-parts',
  'crash/broker-gone',
  'crash/clickhouse-gone',
  'crash/clickhouse-slow',
  'crash/engine-abort',
  'crash/erasure',
  'crash/evaluate-model',
  'crash/kill-under-load',
  'crash/log-kafka',
  'crash/lost-log',
  'crash/masking',
  'crash/purge',
  'crash/rebuild',
  'crash/record-versions',
  'crash/restore-erasures',
  'crash/worker-fight',
  'crash/worker-kill',
  'engine/calls-read-delete',
  'engine/calls-read-large',
  'engine/calls-read-lists',
  'engine/engine-traps',
  'engine/erasure-window',
  'engine/field-index',
  'engine/large-lists',
  'engine/log-kafka-group',
  'engine/new-calls-property',
  'engine/store-server-faults',
  'server/agent-turns-property',
  'server/annotation-queues-items',
  'server/calls-expand',
  'server/calls-feedback-fields',
  'server/calls-histories-property',
  'server/dead-letters',
  'server/deduplicate',
  'server/earlier-installation',
  'server/erasures',
  'server/erasures-receipts',
  'server/evaluate-model',
  'server/evaluation-objects',
  'server/evaluation-runs-many',
  'server/event-loop-work',
  'server/feedback-calls',
  'server/garbage-property',
  'server/holds-by-key',
  'server/isolation',
  'server/log-joins',
  'server/log-joins-evaluations',
  'server/log-joins-golden',
  'server/otel-span-dump',
  'server/otlp-grpc-away',
  'server/otlp-hostile',
  'server/own-secrets',
  'server/project-removal',
  'server/purge',
  'server/rebuild',
  'server/retention',
  'server/roles',
  'server/roles-backup',
  'server/roles-clock-skew',
  'server/roles-lost-log',
  'server/roles-order',
  'server/roles-rebuild',
  'server/roles-slots',
  'server/roles-transfer',
  'server/transfer',
  'unit/log-fairness',
]
const isWholeDeepTier = Number(process.env.CALLHOUSE_TEST_DEEP ?? 0) >= 1
/** A second time on Kafka and a ClickHouse server; the slowest of them where the whole tier runs. */
const deepOnServers = [
  'server/annotation-queues',
  'server/calls-feedback-fields',
  'server/dead-letters',
  'server/erasures',
  'server/freshness',
  'server/paths',
  ...(isWholeDeepTier ? ['server/calls-histories-property', 'server/rebuild'] : []),
]

const fileOf = (name: string): string => `test/${name}.test.ts`
const isOfBrowser = (name: string): boolean => name.startsWith('browser/')

/** Run a second time on Kafka and a ClickHouse server: what goes through every topic and every kind of read. */
const onServers = [
  'server/call-stats',
  'server/calls-costs',
  'server/files-bucket',
  'server/object-labels',
  'engine/refs',
  'engine/tables',
  'server/usage',
]

/** Test files whose number of runs grows in the deep tier (test/fixtures/runs.ts), in them or in parts of them. */
const generated = (): string[] => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('fixtures'))
    .map((file) => ({ file, text: readFileSync(join('test', file), 'utf8') }))
  const growing = files.filter(({ text }) => text.includes('fixtures/runs.ts'))
  const parts = growing.map(({ file }) => `/${basename(file)}'`)
  return files
    .filter(({ file }) => file.endsWith('.test.ts'))
    .filter((one) => growing.includes(one) || parts.some((part) => one.text.includes(part)))
    .map(({ file }) => `test/${file}`)
}

/** Tests of the page need a Chromium: the one that CALLHOUSE_CHROMIUM names, or one in the path. */
function browserProject(name: string, include: readonly string[], exclude: readonly string[]) {
  const inPath = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    PATH.split(delimiter).map((folder) => join(folder, name)),
  )
  const chromium = [CALLHOUSE_CHROMIUM ?? '', ...inPath].find((path) => path !== '' && existsSync(path))
  if (chromium === undefined) {
    const line = 'no Chromium in the path, nor in CALLHOUSE_CHROMIUM: the tests of the web page are left out'
    if (CALLHOUSE_TEST_BROWSER === 'required') throw new Error(line)
    process.stderr.write(`${line}\n`)
    return []
  }
  const env = { CALLHOUSE_CHROMIUM: chromium }
  // What is waited for comes by itself; on a busy machine not within the second that is usual.
  const expect = { poll: { timeout: 15_000 } }
  return [
    {
      test: {
        name,
        include: [...include],
        exclude: [...exclude],
        env,
        expect,
        globalSetup: ['test/browser/setup.ts'],
        // A test that needs its second try is marked in the report.
        retry: 1,
        ...limits,
      },
    },
  ]
}

/** By what a test needs: nothing, an engine, a server, published clients, processes that die. */
const projects = {
  unit: ['unit'],
  engine: ['engine', 'sql'],
  server: ['server', 'guide'],
  compat: ['compat'],
  crash: ['crash'],
}

const tiers = {
  normal: () => [
    ...Object.entries(projects).map(([name, folders]) => ({
      test: {
        name,
        include: folders.map((folder) => `test/${folder}/*.test.ts`),
        exclude: deepOnly.map(fileOf),
        // Files with servers share processes: importing one, and its engine, takes 2 s of CPU, and there are seventy.
        isolate: name !== 'server',
        ...limits,
      },
    })),
    ...browserProject('browser', ['test/browser/*.test.ts'], deepOnly.map(fileOf)),
    {
      test: {
        name: 'servers',
        include: onServers.map(fileOf),
        env: { CALLHOUSE_TEST_SETUP: 'kafka' },
        ...limits,
      },
    },
  ],
  deep: () => [
    {
      test: {
        name: 'deep',
        include: [...generated(), ...deepOnly.filter((name) => !isOfBrowser(name)).map(fileOf)],
        ...limits,
        testTimeout: 1_200_000,
        hookTimeout: 600_000,
      },
    },
    ...browserProject('deep browser', deepOnly.filter(isOfBrowser).map(fileOf), []),
    {
      test: {
        name: 'deep on servers',
        include: deepOnServers.map(fileOf),
        env: { CALLHOUSE_TEST_SETUP: 'kafka' },
        ...limits,
      },
    },
  ],
}

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    globalSetup: ['test/fixtures/engines-setup.ts'],
    pool: 'forks',
    // One more than cores in CI: while a file waits for a process or the broker, the others go on.
    maxWorkers: 3,
    projects: process.env.CALLHOUSE_TEST_DEEP ? tiers.deep() : tiers.normal(),
  },
})
