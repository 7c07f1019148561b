// `npm run test:repeat [times]`: runs `npm test` again and again, every second time beside a process that keeps one core
// busy, and prints a table. A test that fails by chance shows here.
import { spawn } from 'node:child_process'
import { endWith, projectsOfTest, runVitest } from './vitest.ts'

const times = Number(process.argv[2] ?? 10)
if (!Number.isInteger(times) || times < 1) endWith(`'${process.argv[2]}' is no number of runs`)

const lines: string[] = []
let failures = 0
for (let run = 1; run <= times; run++) {
  const isBusy = run % 2 === 0
  const busy = isBusy ? spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }) : undefined
  const { code, seconds, failed, passedTests, failedTests } = await runVitest([
    ...projectsOfTest,
    '--silent=passed-only',
  ])
  busy?.kill('SIGKILL')
  if (code !== 0) failures++
  const result = code === 0 ? 'passed' : 'FAILED'
  lines.push(
    `${String(run).padStart(3)}  ${isBusy ? 'one core busy' : 'alone        '}  ${result}  ${String(seconds).padStart(4)} s  ${passedTests} passed, ${failedTests} failed  ${failed.join(' ')}`,
  )
  process.stdout.write(`\n${lines.join('\n')}\n`)
}
if (failures > 0) process.exitCode = 1
