// Runs vitest on some projects, and reads what it reports of each file.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Everything but the deep tier and the bars. */
export const projectsOfTest = ['--project=!deep-*', '--project=!bars']

export type TestRun = {
  /** Exit code of the process: 0 when everything passed. */
  code: number
  seconds: number
  /** Files below the root in which something failed; empty too where vitest could not report. */
  failed: string[]
  /** Numbers of tests. */
  passedTests: number
  failedTests: number
}

type Reported = {
  numPassedTests: number
  numFailedTests: number
  testResults: { name: string; status: string }[]
}

let running: ChildProcess | undefined
let isStopped = false
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const)
  process.on(signal, () => {
    isStopped = true
    // A terminal sends Ctrl-C to the whole group.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) running?.kill(signal)
  })

/** @param words of the command line of `vitest run` @returns its exit code */
export async function startVitest(words: readonly string[]): Promise<number> {
  running = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...words], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = (await once(running, 'exit')) as [number | null]
  // Nothing else is started.
  if (isStopped) process.exit(code || 1)
  return code ?? 1
}

/** The same, with what it reported. */
export async function runVitest(words: readonly string[]): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'callhouse-report-'))
  const report = join(folder, 'report.json')
  const began = Date.now()
  const code = await startVitest(['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...words])
  const seconds = Math.round((Date.now() - began) / 1000)
  try {
    const reported = JSON.parse(readFileSync(report, 'utf8')) as Reported
    const failed = reported.testResults
      .filter(({ status }) => status !== 'passed')
      .map(({ name }) => name.slice(root.length))
    return { code, seconds, failed, passedTests: reported.numPassedTests, failedTests: reported.numFailedTests }
  } catch {
    return { code: code || 1, seconds, failed: [], passedTests: 0, failedTests: 0 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ends the program with one line on what is wrong. */
export function endWith(line: string): never {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
