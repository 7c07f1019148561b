// The projects of tests. Which files a project has, the first lines of the files say (scripts/tests/tiers.ts).
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { chromiumPath, missingFor } from './scripts/tests/programs.ts'
import { type Part, parts, readTestFiles, type TestFile } from './scripts/tests/tiers.ts'
import { memoryFolder } from './test/fixtures/memory-folder.ts'

// Test processes inherit it: a busy engine connection occupies a thread, and killing its query needs another one.
process.env.UV_THREADPOOL_SIZE ??= '24'

// And the compiled sources: without them each server that a test starts compiles all of its own.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

const inMemory = process.env.TMPDIR === undefined && memoryFolder()
if (inMemory) process.env.TMPDIR = inMemory

const chromium = chromiumPath()
// Servers that tests start with what this process has refuse settings that they do not know.
delete process.env.CALLHOUSE_CHROMIUM

const files = readTestFiles(import.meta.dirname)

type Options = { env?: Record<string, string>; isolate?: boolean; globalSetup?: string[]; isLong?: boolean }

/** Nothing, where no file belongs to it: vitest refuses a project without files. */
function project(name: string, belongs: (file: TestFile) => boolean, { isLong = false, ...options }: Options = {}) {
  const include = files.filter(belongs).map(({ file }) => file)
  if (include.length === 0) return []
  const limits = isLong
    ? { testTimeout: 1_200_000, hookTimeout: 600_000 }
    : { testTimeout: 120_000, hookTimeout: 240_000 }
  const restored = { restoreMocks: true, unstubEnvs: true, unstubGlobals: true }
  return [
    {
      test: {
        name,
        include,
        setupFiles: ['test/fixtures/generated.ts', 'test/fixtures/clean-process.ts'],
        ...limits,
        ...restored,
        ...options,
      },
    },
  ]
}

const onServers = { CALLHOUSE_TEST_SETUP: 'kafka' }
const inBrowser = { env: { CALLHOUSE_CHROMIUM: chromium ?? '' }, globalSetup: ['test/browser/setup.ts'] }

/** By what a test needs: nothing, an engine, a server, other processes. */
const folders = {
  unit: ['unit'],
  engine: ['engine'],
  sql: ['sql'],
  server: ['server'],
  processes: ['compat', 'crash', 'guide'],
}
const folderOf = ({ file }: TestFile): string => file.split('/')[1] as string
const needsSetup = ({ smoke }: TestFile): boolean => smoke === 'page' || smoke === 'kafka'
const isWhole = (file: TestFile): boolean => file.smoke === undefined || missingFor(file.smoke).length === 0

const ofTest = Object.entries(folders).flatMap(([name, of]) =>
  project(
    name,
    (file) => file.tier === 'test' && of.includes(folderOf(file)) && !needsSetup(file) && isWhole(file),
    // Files share processes: importing the sources, and opening an engine for the first time, takes 2 s of CPU, and there
    // are three hundred files. Statements and functions are watched by replacing modules, which wants a process of its own.
    { isolate: name === 'sql' || name === 'processes' },
  ),
)
const smokesOf = (smoke: string, options: Options) =>
  project(smoke, (file) => file.tier === 'test' && file.smoke === smoke && isWhole(file), options)

/** Share of the deep runs of generated tests (test/fixtures/runs.ts): all of them take the part property over half an hour. */
const shareOf: Partial<Record<Part, string>> = { property: '0.4' }

const ofPart = (part: Part) => {
  const options = { isLong: true, ...(part === 'browser' ? inBrowser : {}) }
  const deep = { CALLHOUSE_TEST_DEEP: process.env.CALLHOUSE_TEST_DEEP ?? shareOf[part] ?? '1' }
  const isAgain = ({ again }: TestFile) => part !== 'browser' && (again as string[]).includes(part)
  const isOfPart = (file: TestFile) => file.tier === 'deep' && file.part === part
  if (part !== 'kafka')
    return project(`deep-${part}`, (file) => isOfPart(file) || isAgain(file), {
      ...options,
      env: { ...deep, ...options.env },
    })
  return [
    ...project('deep-kafka', isOfPart, { ...options, env: deep }),
    ...project('deep-kafka-again', isAgain, { ...options, env: { ...deep, ...onServers } }),
  ]
}

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    globalSetup: ['test/fixtures/engines-setup.ts'],
    pool: 'forks',
    // One more than cores in CI: while a file waits for a process or the broker, the others go on.
    maxWorkers: 3,
    projects: [
      ...ofTest,
      ...smokesOf('page', inBrowser),
      ...smokesOf('kafka', { env: onServers }),
      ...parts.flatMap(ofPart),
      ...project('bars', ({ tier }) => tier === 'bars', { isLong: true }),
    ],
  },
})
