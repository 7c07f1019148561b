// `npm run test:deep [part …]`: the deep tier, whole or in parts. A file that fails runs once more, alone: when it passes
// then, the run ends well and names it as flaky.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingFor } from './programs.ts'
import { type Part, parts, readTestFiles, tierFaults } from './tiers.ts'
import { endWith, root, runVitest, type TestRun } from './vitest.ts'

type Outcome = {
  part: Part
  seconds: number
  passed: boolean
  tests: number
  flaky: string[]
  failed: string[]
  missing: string[]
}

async function runPart(part: Part): Promise<Outcome> {
  const missing = missingFor(part)
  const outcome: Outcome = { part, seconds: 0, passed: true, tests: 0, flaky: [], failed: [], missing }
  if (missing.length > 0) {
    process.stderr.write(`left out: the part ${part} cannot run without ${missing.join(' and ')}\n`)
    return { ...outcome, passed: !process.env.CI }
  }
  const projects = [`--project=deep-${part}`, ...(part === 'kafka' ? ['--project=deep-kafka-again'] : [])]
  const ran = await runVitest(projects)
  outcome.tests = ran.passedTests + ran.failedTests
  outcome.seconds = ran.seconds
  // What vitest reports beside files, such as an unhandled rejection, cannot be run again.
  if (ran.code !== 0 && ran.failed.length === 0) outcome.passed = false
  for (const file of ran.failed) {
    const again: TestRun = await runVitest([...projects, file])
    outcome.seconds += again.seconds
    if (again.code === 0) outcome.flaky.push(file)
    else outcome.failed.push(file)
  }
  if (outcome.failed.length > 0) outcome.passed = false
  return outcome
}

const asked = process.argv.slice(2)
const [fault] = tierFaults(readTestFiles(root))
if (fault) endWith(fault)
const unknown = asked.find((word) => !(parts as readonly string[]).includes(word))
if (unknown !== undefined) endWith(`the deep tier has no part '${unknown}'; its parts are ${parts.join(', ')}`)

const outcomes: Outcome[] = []
for (const part of parts) if (asked.length === 0 || asked.includes(part)) outcomes.push(await runPart(part))

const report = join(root, 'node_modules', '.cache', 'test-deep.json')
mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true })
writeFileSync(report, `${JSON.stringify(outcomes, null, 2)}\n`)
process.stdout.write('\n')
for (const { part, seconds, passed, tests, missing } of outcomes) {
  const result = missing.length > 0 ? 'left out' : passed ? 'passed' : 'FAILED'
  process.stdout.write(`${result.padEnd(9)} ${part.padEnd(9)} ${String(seconds).padStart(5)} s  ${tests} tests\n`)
}
for (const { flaky } of outcomes) for (const file of flaky) process.stdout.write(`flaky: ${file}\n`)
for (const { failed } of outcomes) for (const file of failed) process.stdout.write(`failed: ${file}\n`)
process.stdout.write(`the report is ${report}\n`)
if (outcomes.some(({ passed }) => !passed)) process.exitCode = 1
