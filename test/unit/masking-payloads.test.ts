// Precision of masking over a labelled list of JSON payloads of every type (test/fixtures/masking-payloads): it must
// find the text between `«` and `»`, and nothing else. The manual prints the figures.
import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { newMaskRules } from '../../schemas/mask-rules.ts'
import { createMasker } from '../../services/content/masking/masker.ts'

const folder = 'test/fixtures/masking-payloads'
const mail = { id: 'mail', detect: 'email', action: 'mask' }
const patterns = ['ACME-\\d{4,6}', '\\b77\\d{6}\\b']
/** Rules for the cases of a file; a detector of its name by default. */
const rulesOf: Record<string, object> = {
  credential: { sets: ['@credentials'] },
  pattern: { rules: patterns.map((pattern, n) => ({ id: `p${n}`, pattern, action: 'mask' })) },
  ref: { rules: [mail] },
}
const ruleOf = (name: string): object => rulesOf[name] ?? { rules: [{ id: name, detect: name, action: 'mask' }] }

const marked = /«([^»]*)»/g
const marks = /[«»]/g

/** The kinds of JSON values that a payload holds. */
function typesIn(value: unknown, into: Set<string>): void {
  into.add(value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
  if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) typesIn(one, into)
}

type Figures = { cases: number; wanted: number; hits: number; right: number; types: Set<string>; wrong: string[] }

async function figuresOf(name: string): Promise<Figures> {
  const lines = (await readFile(`${folder}/${name}.jsonl`, 'utf8')).split('\n').filter(Boolean)
  const figures: Figures = { cases: lines.length, wanted: 0, hits: 0, right: 0, types: new Set(), wrong: [] }
  for (const line of lines) {
    let hits = 0
    const onHits = (_: string, count: number): void => {
      hits += count
    }
    const masker = createMasker([{ rules: newMaskRules.parse(ruleOf(name)) }], { onHits })
    const json = line.replace(marks, '')
    const bytes = Buffer.from(json)
    const present = masker.anchors(bytes, 0, bytes.length)
    const { text } = masker.json('inputs', json, present)
    const kept = present === 0 ? json : text
    expect(() => JSON.parse(kept)).not.toThrow()
    const wanted = [...line.matchAll(marked)].map(([, one]) => one as string)
    const right = wanted.filter((one) => !kept.includes(one)).length
    if (right < wanted.length || hits > right || (wanted.length === 0 && kept !== json)) figures.wrong.push(line)
    figures.wanted += wanted.length
    figures.right += right
    figures.hits += hits
    typesIn(JSON.parse(json), figures.types)
  }
  return figures
}

const percent = (part: number, of: number): string => ((part / of) * 100).toFixed(1)

it('over the labelled list masking is as often right as the manual says', async () => {
  const names = (await readdir(folder))
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.replace('.jsonl', ''))
  const found = new Map<string, Figures>()
  for (const name of names) found.set(name, await figuresOf(name))
  const all = [...found.values()]
  expect(all.reduce((sum, { cases }) => sum + cases, 0)).toBeGreaterThanOrEqual(500)
  const types = new Set(all.flatMap((one) => [...one.types]))
  expect([...types].sort()).toEqual(['boolean', 'list', 'null', 'number', 'object', 'string'])
  const computed = [...found].map(
    ([name, { cases, hits, right, wanted }]) =>
      [name, [String(cases), percent(Math.min(hits, right), hits), percent(right, wanted)]] as const,
  )
  const manual = await readFile('docs/privacy.md', 'utf8')
  const rows = manual.matchAll(/^\| `(\w+)` +\| +(\d+) +\| +([\d.]+) % +\| +([\d.]+) % /gm)
  const printed = [...rows].map(([, name, ...figures]) => [name, figures])
  // Misses and mistakes are named where the figures differ.
  const wrong = all.flatMap((one) => one.wrong).join('\n')
  expect(Object.fromEntries(printed), wrong).toEqual(Object.fromEntries(computed))
})
