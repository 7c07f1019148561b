// `npm run check`: formatter, linter, import rules, types, dead code, and rules of this repository, side by side.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settings } from '../services/app/config.ts'
import { commands } from '../services/cli/commands.ts'
import { commentFaults } from './comments.ts'
import { eventsPage } from './events-page.ts'
import { exportedNameFaults, exportingSources } from './exported-names.ts'
import {
  declaringFiles,
  glossaryFaults,
  glossaryWords,
  namedThings,
  oldWordFaults,
  pageSources,
  pageTextFaults,
} from './glossary.ts'
import { folderCycles, importCycles, repositoryImports, roomFaults } from './imports.ts'
import { migrationFaults } from './migration-numbers.ts'
import { distFolder, pageInstall } from './page-stamp.mjs'
import { missingFiles, readmeFaults, repositoryPages } from './readmes.ts'
import { servicesSources, sqlPlaceFaults } from './sql-places.ts'
import { tablesPage } from './tables-page.ts'
import { ruleFaults, testSources } from './tests/rules.ts'
import { readTestFiles, tierFaults } from './tests/tiers.ts'
import { tupleFaults } from './tuples.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const maxLines = 400

type Outcome = { name: string; text: string; passed: boolean }

function tool(name: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules', '.bin', name),
      args,
      { cwd: root, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => resolve({ name, text: stdout + stderr, passed: error === null }),
    )
  })
}

/** Checks only what changed since the last time, and what depends on it. */
const types = (folder: string, name: string): Promise<Outcome> =>
  tool('tsc', '-p', folder, '--incremental', '--tsBuildInfoFile', `node_modules/.cache/types-${name}.tsbuildinfo`)

const outcome = (name: string, faults: string[]): Outcome => ({
  name,
  text: faults.map((fault) => `${fault}\n`).join(''),
  passed: faults.length === 0,
})

/** A file of ours that no one reads at one sitting. The official .proto files are not ours, nor is what is compiled from them; snapshots and the baseline are read by their changes. */
function longFiles(): Outcome {
  const listed = execFileSync(
    'git',
    [
      'ls-files',
      '-z',
      '*.ts',
      '*.tsx',
      '*.mjs',
      '*.sql',
      '*.md',
      ':!test/sql/*.sql',
      ':!clickhouse/baseline.sql',
      ':!services/ingest/otel/messages.mjs',
    ],
    { cwd: root },
  )
  const faults = listed
    .toString()
    .split('\0')
    .filter((file) => file !== '')
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ file, lines }) => `${file} has ${lines} lines, more than ${maxLines}`)
  return outcome('length of files', faults)
}

type Locked = { version?: string; optionalDependencies?: Record<string, string> }

/** A lock file written where a registry or a platform hides some optional packages makes `npm ci` fail elsewhere. */
function lockFile(): Outcome {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, Locked> }
  const faults = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
      .map((name) => `package-lock.json lacks ${name}, wanted by ${path}`),
  )
  return outcome('lock file', faults)
}

const migrations = (): Outcome =>
  outcome('migrations', migrationFaults(readdirSync(join(root, 'clickhouse/migrations'))))

const glossary = (): Outcome =>
  outcome('glossary', [
    ...glossaryFaults(namedThings(root), glossaryWords(readFileSync(join(root, 'docs/glossary.md'), 'utf8'))),
    ...oldWordFaults(declaringFiles(root)),
    ...pageTextFaults(pageSources(root)),
  ])

function readmes(): Outcome {
  const pages = repositoryPages(root)
  return outcome('READMEs', [...readmeFaults(pages), ...missingFiles(pages)])
}

function imports(): Outcome {
  const all = repositoryImports(root)
  return outcome('imports', [...roomFaults(all), ...importCycles(all), ...folderCycles(all)])
}

/** Settings, commands, and metrics that are named in one piece; a test compares all metrics that a server has. */
function manual(): Outcome {
  const lacks = (page: string, names: readonly string[]): string[] => {
    const text = readFileSync(join(root, 'docs/operate', page), 'utf8')
    return names
      .filter((name) => !new RegExp(`\`${name}[\` ]`).test(text))
      .map((name) => `docs/operate/${page} lacks ${name}`)
  }
  const metrics = namedThings(root).filter(({ kind, name }) => kind === 'metric' && name.includes('_'))
  return outcome('manual', [
    ...lacks(
      'metrics.md',
      metrics.map(({ name }) => `callhouse_${name}`),
    ),
    ...lacks(
      'settings.md',
      settings.map(({ env }) => env),
    ),
    ...lacks(
      'commands.md',
      commands.map(({ name }) => `callhouse ${name}`),
    ),
  ])
}

/** Size of the download before the list of calls shows, and the limits of docs/web-page.md, in bytes (brotli). */
function pageSizes(): Outcome {
  const folder = join(root, distFolder, 'assets')
  if (!existsSync(folder)) return outcome('sizes of the page', [])
  const shell = readFileSync(join(root, distFolder, 'index.html'), 'utf8')
  const files = readdirSync(folder)
  const sizeOf = (name: string) => statSync(join(folder, `${name}.br`)).size
  const limit = (name: string) => (!name.endsWith('.js') ? 20_000 : shell.includes(name) ? 150_000 : 140_000)
  const faults = files
    .filter((name) => /\.(?:js|css)$/.test(name) && files.includes(`${name}.br`) && sizeOf(name) > limit(name))
    .map((name) => `${name} has ${sizeOf(name)} bytes, more than ${limit(name)}`)
  const scripts = shell.match(/assets\/[\w-]+\.js/g) ?? []
  // One request each, before the first row: a chunk that pages share with the entry is such a one.
  if (scripts.length !== 1) faults.push(`the page begins with ${scripts.length} scripts instead of one: ${scripts}`)
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { names, paths } = pageInstall(packages)
  if (names.length > 26 || paths.size > 120)
    faults.push(`the page needs ${names.length} packages, ${paths.size} in all`)
  return outcome('sizes of the page', faults)
}

/** Each test file is in one tier, and keeps the rules that make it exact. */
function tests(): Outcome {
  const files = readTestFiles(root)
  return outcome('tests', [...tierFaults(files), ...ruleFaults(testSources(root), files)])
}

// Processes of their own, which run while the rules below are looked at.
const tools = Promise.all([
  tool('biome', 'check'),
  types('.', 'server'),
  types('services/web/page', 'page'),
  tool('knip', '--cache'),
])
const sources = exportingSources(root)
const outcomes = [
  longFiles(),
  lockFile(),
  migrations(),
  pageSizes(),
  glossary(),
  outcome('pages of events and tables', [...eventsPage.faults(), ...tablesPage.faults()]),
  imports(),
  outcome('exported names', exportedNameFaults(sources)),
  outcome('comments', commentFaults(sources)),
  outcome('tuples', tupleFaults(sources)),
  outcome('places of SQL', sqlPlaceFaults(servicesSources(root))),
  readmes(),
  tests(),
  manual(),
  ...(await tools),
]
for (const { name, text, passed } of outcomes) {
  if (!passed) process.stdout.write(`${text}\n`)
  process.stdout.write(`${passed ? 'ok    ' : 'FAILED'}  ${name}\n`)
}
if (outcomes.some(({ passed }) => !passed)) process.exitCode = 1
