// One part of the deep tier: a file that fails runs once more, alone, and is flaky when it passes then.
import { missingFor } from './programs.ts'
import type { Part } from './tiers.ts'
import type { TestRun } from './vitest.ts'

export type PartOutcome = {
  part: Part
  seconds: number
  passed: boolean
  tests: number
  flaky: string[]
  failed: string[]
  missing: string[]
}

/** @param run starts vitest with these words */
export async function runPart(part: Part, run: (words: string[]) => Promise<TestRun>): Promise<PartOutcome> {
  const missing = missingFor(part)
  const outcome: PartOutcome = { part, seconds: 0, passed: true, tests: 0, flaky: [], failed: [], missing }
  if (missing.length > 0) {
    process.stderr.write(`left out: the part ${part} cannot run without ${missing.join(' and ')}\n`)
    return { ...outcome, passed: !process.env.CI }
  }
  const projects = [`--project=deep-${part}`, ...(part === 'kafka' ? ['--project=deep-kafka-again'] : [])]
  const ran = await run(projects)
  outcome.tests = ran.passedTests + ran.failedTests
  outcome.seconds = ran.seconds
  // Other failures of vitest, such as an unhandled rejection, cannot be run again.
  if (ran.code !== 0 && ran.failed.length === 0) outcome.passed = false
  for (const file of ran.failed) {
    const again: TestRun = await run([...projects, file])
    outcome.seconds += again.seconds
    if (again.code === 0) outcome.flaky.push(file)
    else outcome.failed.push(file)
  }
  if (outcome.failed.length > 0) outcome.passed = false
  return outcome
}
