// Rules that make a test exact, as far as its text shows whether it keeps them. docs/testing.md says why.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestFile } from './tiers.ts'

type Source = { file: string; text: string }

/** A rule about texts: forbidden patterns, the files, and the message. */
type Rule = {
  pattern: RegExp
  where(file: string): boolean
  says: string
}

const isTest = (file: string): boolean => file.endsWith('.test.ts') && !file.startsWith('test/bars/')

const rules: Rule[] = [
  {
    pattern: /\bexpect\s*\.poll\b|\bvi\.wait(?:For|Until)\b/,
    where: (file) => file !== 'test/fixtures/eventually.ts',
    says: "waits with the runner's limit: use eventually or expectSoon (test/fixtures/eventually.ts)",
  },
  {
    pattern: /\bfreePort\b|\bgetPort\b/,
    where: () => true,
    says: 'takes a port that somebody else may have by then: bind port 0 and read it back',
  },
  {
    pattern: /\bprocess\.env(?:\.\w+|\[[^\]]+\])\s*(?:\?\?)?=(?!=)|\bdelete process\.env\b/,
    where: isTest,
    says: 'changes the environment of a process that other files share: use vi.stubEnv',
  },
  {
    pattern: /\b(?:it|test|describe)\b.*\bretry:\s*\d/,
    where: () => true,
    says: 'tries again on the state that the first try left',
  },
]

/** Names that hold measured time, CPU or memory, in a comparison with an upper bound. */
const measured = /(?:performance|Date)\.now\(\)|\bcpuUsage\(|\bhrtime\b|\bmemoryUsage\b|\beventLoopUtilization\(/
const upperBound = /\.toBeLessThan(?:OrEqual)?\(/

/** Lines in which elapsed time, CPU or memory is held against an upper bound, by itself or by a name that has it. */
function timedLines(text: string): number[] {
  const lines = text.split('\n')
  const names = lines.flatMap((line) => {
    const [, name, value = ''] = /\b(?:const|let)\s+(\w+)\s*=\s*(.*)$/.exec(line) ?? []
    return name !== undefined && measured.test(value) && /\s-\s/.test(value) ? [name] : []
  })
  const holds = (line: string) => measured.test(line) || names.some((name) => new RegExp(`\\b${name}\\b`).test(line))
  return lines.flatMap((line, at) => (upperBound.test(line) && holds(line) ? [at + 1] : []))
}

/** Fake timers that a file leaves to the next one in its process. */
const keepsFakeTimers = (text: string): boolean =>
  /\bvi\.useFakeTimers\(/.test(text) && !/\bvi\.useRealTimers\(/.test(text)

/** Calls that start another process, and the smoke that a file of the tier `test` must be to make them. */
const starters =
  /\b(?:startChildServer|startBroker|kafkaBrokers|startBridge|runPython|runNode|startLogProcess|startErasingServer|fork|spawn)\(|\bchromium\.(?:launch|connect)/

export function ruleFaults(sources: readonly Source[], files: readonly TestFile[]): string[] {
  const faults = sources.flatMap(({ file, text }) => {
    const lines = text.split('\n')
    const broken = rules
      .filter(({ where }) => where(file))
      .flatMap(({ pattern, says }) =>
        lines.flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1} ${says}`] : [])),
      )
    const timed = isTest(file)
      ? timedLines(text).map(
          (line) => `${file}:${line} holds elapsed time, CPU or memory against a bound: that is for test/bars`,
        )
      : []
    const timers = isTest(file) && keepsFakeTimers(text) ? [`${file} leaves fake timers behind`] : []
    return [...broken, ...timed, ...timers]
  })
  const texts = new Map(sources.map(({ file, text }) => [file, text]))
  for (const { file, tier, smoke } of files)
    if (tier === 'test' && !smoke && starters.test(texts.get(file) ?? ''))
      faults.push(`${file} starts another process: it belongs to the deep tier, or is one of the smoke tests`)
  return faults
}

/** All sources below test, but programs that clients run. */
export const testSources = (root: string): Source[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ file: `test/${name}`, text: readFileSync(join(root, 'test', name), 'utf8') }))
