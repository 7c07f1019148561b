// `npm run test:deep [part …]`: the deep tier, whole or in parts. A file that fails runs once more, alone: when it passes
// then, the run ends well and names it as flaky.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PartOutcome, runPart } from './deep-part.ts'
import { parts, readTestFiles, tierFaults } from './tiers.ts'
import { endWith, root, runVitest } from './vitest.ts'

const asked = process.argv.slice(2)
const [fault] = tierFaults(readTestFiles(root))
if (fault) endWith(fault)
const unknown = asked.find((word) => !(parts as readonly string[]).includes(word))
if (unknown !== undefined) endWith(`the deep tier has no part '${unknown}'; its parts are ${parts.join(', ')}`)

const outcomes: PartOutcome[] = []
for (const part of parts) if (asked.length === 0 || asked.includes(part)) outcomes.push(await runPart(part, runVitest))

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
