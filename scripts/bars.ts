// `npm run bars [name]`: runs the bars of test/bars one after the other, each alone, and holds what they measured against
// scripts/bench/bounds.ts. For a machine that does nothing else meanwhile. `page` is run by its name alone: a bench of a
// quarter of an hour with limits of its own.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { barsTable, chosenBars, judgeBars, type Measured } from './bench/bars-report.ts'
import { bounds } from './bench/bounds.ts'

const root = join(import.meta.dirname, '..')
const benches: Readonly<Record<string, readonly string[]>> = { page: ['page', '5000000', '3'] }
const suffix = '.test.ts'

/** @returns whether the bar ended well; prints what it said where it did not */
function run(bar: string, file: string): boolean {
  process.stderr.write(`${bar} … `)
  const beganMs = performance.now()
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'bars', `test/bars/${bar}${suffix}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    // Folders lie on a disk, where a sync is one.
    env: { UV_THREADPOOL_SIZE: '24', TMPDIR: tmpdir(), ...process.env, CALLHOUSE_BARS_FILE: file },
  })
  process.stderr.write(`${((performance.now() - beganMs) / 1000).toFixed(0)} s\n`)
  if (status !== 0) process.stderr.write(`${stdout}${stderr}`)
  return status === 0
}

const linesOf = (file: string): Measured[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : []

/** @returns the faults, by lines */
function bars(name: string | undefined): string[] {
  const known = readdirSync(join(root, 'test/bars'))
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .sort()
  const ran = chosenBars(known, name, Object.keys(benches))
  const folder = mkdtempSync(join(tmpdir(), 'callhouse-bars-'))
  try {
    const file = join(folder, 'figures.jsonl')
    const failed = ran.filter((bar) => !run(bar, file))
    const { rows, faults } = judgeBars({ known, ran, failed, measured: linesOf(file), bounds })
    process.stdout.write(`${barsTable(rows)}\n`)
    return faults
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runBars(name: string | undefined): void {
  let faults: string[]
  try {
    faults = bars(name)
  } catch (error) {
    faults = [error instanceof Error ? error.message : String(error)]
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}

const [name] = process.argv.slice(2)
const bench = benches[name ?? '']
if (bench === undefined) runBars(name)
else {
  const args = [join(root, 'scripts/bench/main.ts'), ...bench]
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1
}
