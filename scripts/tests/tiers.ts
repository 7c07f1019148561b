// Assigns test files to tiers: only their first lines decide.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Parts of the deep tier. `npm run test:deep <part>` runs one of them. */
export const parts = ['property', 'crash', 'kafka', 'compat', 'browser', 'slow'] as const
export type Part = (typeof parts)[number]
/** A second run of a file in the deep tier: with more generated runs, or on Kafka and a ClickHouse server. */
const secondRuns = ['property', 'kafka'] as const
type SecondRun = (typeof secondRuns)[number]

/** Processes that files of the tier `test` may start, and how many files may. */
export const smokes = { python: 1, node: 1, kafka: 1, page: 1, 'kill -9': 1, guide: 5, process: 1 } as const
export type Smoke = keyof typeof smokes

/** The first lines of a test file. `faults` are lines for whoever wrote them. */
export type TestFile = {
  file: string
  tier: 'test' | 'deep' | 'bars'
  part?: Part
  again: SecondRun[]
  smoke?: Smoke
  faults: string[]
}

const isOneOf = <T extends string>(all: readonly T[], word: string): word is T =>
  (all as readonly string[]).includes(word)

type Said = { key: 'tier' | 'again' | 'smoke'; value: string; at: number }

/** The lines `// tier: …`, `// again: …` and `// smoke: …` of the comment that a file begins with. */
function saidIn(text: string): Said[] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  return lines.slice(0, end < 0 ? undefined : end).flatMap((line, at) => {
    const [, key, value] = /^\/\/ (tier|again|smoke):\s*(.*?)\s*$/.exec(line) ?? []
    return key === undefined || value === undefined ? [] : [{ key: key as Said['key'], value, at }]
  })
}

/** Each takes what its line says into `found`. @returns what is wrong with it */
const readers: Record<Said['key'], (found: TestFile, said: Said) => string | undefined> = {
  tier(found, { value, at }) {
    const [first = '', ...rest] = value.split(' ')
    const part = rest.join(' ')
    if (at > 0) return 'says its tier after the first line'
    if (first === 'deep' && isOneOf(parts, part)) Object.assign(found, { tier: 'deep', part })
    else if (first === 'deep') return `the part '${part}' of the deep tier is none of ${parts.join(', ')}`
    else if (isOneOf(['bars', 'test'], value)) found.tier = value
    else return `the tier '${value}' is none of test, deep <part>, bars`
  },
  again(found, { value }) {
    const words = value.split(' ')
    found.again = words.filter((word) => isOneOf(secondRuns, word))
    const unknown = words.find((word) => !isOneOf(secondRuns, word))
    return unknown && `is to run again in '${unknown}', which is none of ${secondRuns.join(', ')}`
  },
  smoke(found, { value }) {
    if (!isOneOf(Object.keys(smokes) as Smoke[], value))
      return `the smoke '${value}' is none of ${Object.keys(smokes).join(', ')}`
    found.smoke = value
  },
}

/** @param file path below the root of the project */
export function headerOf(file: string, text: string): TestFile {
  const found: TestFile = { file, tier: 'test', again: [], faults: [] }
  const said = saidIn(text)
  const faults: (string | undefined)[] = Object.keys(readers)
    .filter((key) => said.filter((one) => one.key === key).length > 1)
    .map((key) => `has two lines '// ${key}:'`)
  faults.push(...said.map((one) => readers[one.key](found, one)))
  if (found.tier === 'bars' && found.again.length > 0) faults.push('is a bar, which runs once')
  if (found.tier !== 'test' && found.smoke) faults.push(`is of the tier ${found.tier}, and a smoke is for every change`)
  if (isOneOf(found.again, found.part ?? '')) faults.push(`is to run again in its own part, ${found.part}`)
  if ((found.tier === 'bars') !== file.startsWith('test/bars/')) faults.push('bars, and nothing else, lie in test/bars')
  found.faults = faults.flatMap((fault) => (fault ? [`${file}: ${fault}`] : []))
  return found
}

/** All test files of the project with their texts. */
export function readTestFiles(root: string): (TestFile & { text: string })[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => {
      const file = `test/${name.replaceAll('\\', '/')}`
      const text = readFileSync(join(root, file), 'utf8')
      return { ...headerOf(file, text), text }
    })
}

/** Faults of the first lines of all files. */
export function tierFaults(files: readonly TestFile[]): string[] {
  const faults = files.flatMap((file) => file.faults)
  for (const [smoke, most] of Object.entries(smokes)) {
    const having = files.filter((file) => file.smoke === smoke).map(({ file }) => file)
    if (having.length > most)
      faults.push(`${having.length} files are the smoke '${smoke}', at most ${most} may be: ${having.join(', ')}`)
  }
  return faults
}
