// Makes `npm start` and `npm test` work in a fresh clone: installs what is missing, then runs the command on the
// project's own Node. Plain JavaScript without dependencies, for any Node from 18 on.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingInstall, onDisk } from './packages.mjs'
import { needsBuild } from './page-stamp.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const node = join(modules, '.bin', 'node')

const run = (command, args, options = {}) => {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (error) throw error
  return signal ? 128 : (status ?? 1)
}

const commands = {
  start: ['services/main.ts', 'serve'],
  callhouse: ['services/main.ts'],
  test: ['scripts/tests/test.ts'],
  'test:deep': ['scripts/tests/deep.ts'],
  'test:repeat': ['scripts/tests/repeat.ts'],
  bars: ['scripts/bars.ts'],
  check: ['scripts/check.ts'],
  bench: ['scripts/bench/main.ts'],
  demo: ['scripts/demo.ts'],
  screenshots: ['scripts/screenshots.ts'],
  paths: ['scripts/paths.ts'],
  events: ['scripts/events-page.ts'],
  tables: ['scripts/tables-page.ts'],
  baseline: ['scripts/baseline.ts'],
  wasm: ['scripts/wasm.ts'],
  otlp: ['scripts/otlp-messages.ts'],
  page: ['scripts/build-page.ts', '--watch'],
  'page:build': ['scripts/build-page.ts'],
}
const [name = 'start', ...rest] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  process.stderr.write(`callhouse: unknown command ${name}; one of ${Object.keys(commands).join(', ')}\n`)
  process.exit(2)
}
/** All others need tests and tools too. */
const forRunning = ['start', 'callhouse', 'paths', 'events', 'tables', 'baseline', 'page:build']

const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
const noted = join(modules, '.package-lock.json')
const present = existsSync(noted) && existsSync(node) ? onDisk(packagesOf(noted), root) : undefined
const needsAll = !forRunning.includes(name)
const install = missingInstall(packagesOf(join(root, 'package-lock.json')), present, needsAll)
if (install) {
  const what = needsAll
    ? 'what tests and tools need (once, one to two minutes)'
    : 'packages (once, about half a minute)'
  process.stderr.write(`callhouse: installing ${what}\n`)
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const status = run(npm, [...install, '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(status)
}

// The engine runs each query on a thread of Node's pool; the pool's size can only be set before the process starts.
// Compiled sources are kept: processes start in half of the time.
const env = { UV_THREADPOOL_SIZE: '24', NODE_COMPILE_CACHE: join(modules, '.cache', 'compiled'), ...process.env }
const { spawn } = await import('node:child_process')
const [script, ...fixed] = command
/** Once the server listens it is seen whether the page has to be built: neither waits for the other. */
const seesToPage = name === 'start' && env.CALLHOUSE_PAGE !== 'false'
const stdio = seesToPage ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit'
const child = spawn(node, [join(root, script), ...fixed, ...rest], { stdio, env })
if (seesToPage)
  child.once('message', () => {
    child.disconnect()
    if (!needsBuild(root)) return
    const build = spawn(node, [join(root, 'scripts', 'build-page.ts')], { stdio: ['ignore', 2, 2], env })
    child.once('exit', () => build.kill())
  })
// A terminal sends Ctrl-C to the whole group: the child has it already, and a second one would end it at once.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
