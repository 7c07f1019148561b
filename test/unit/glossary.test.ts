// The check of names against docs/glossary.md, and of the texts of the page.
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  declaringFiles,
  glossaryFaults,
  glossaryWords,
  namedThings,
  oldWordFaults,
  pageSources,
  pageTextFaults,
} from '../../scripts/glossary.ts'

const words = glossaryWords(
  '| word | means |\n| --- | --- |\n| call, dead letter | x |\n| patch, alias, leaf, retry | y |\n',
)
const faultsOf = (...names: string[]) =>
  glossaryFaults(
    names.map((name) => ({ kind: 'table' as const, name, where: 'w' })),
    words,
  )

it('names are built from words of the first column, in singular or plural', () => {
  expect(faultsOf('calls', 'call_patches', 'dead_letters', 'aliases', 'leaves', 'retries')).toEqual([])
})

it('a word of the second column, or of none, is a fault, once', () => {
  expect(faultsOf('call_means', 'call_x', 'x_call')).toEqual([
    'docs/glossary.md does not know "mean" of the table call_means (w)',
    'docs/glossary.md does not know "x" of the table call_x (w)',
  ])
})

it('folders, settings, metrics, tables and topics are looked at', () => {
  const named = namedThings(fileURLToPath(new URL('../..', import.meta.url)))
  const shown = named.map(({ kind, name }) => `${kind} ${name}`)
  expect(shown).toEqual(
    expect.arrayContaining([
      'folder services/query/calls/',
      'setting --kafka-brokers',
      'metric dead_letters_total',
      'table feedback_by_ref',
      'topic object_labels',
    ]),
  )
})

it('a declared name with an old word is a fault, but for names that have it from elsewhere', () => {
  const text = 'const leafClass = 1\nfunction portionOf() {}\ntype UntoldMinutes = 2\nconst other = leaves'
  expect(oldWordFaults(new Map([['a.ts', text]]))).toEqual([
    'a.ts declares portionOf: "portion" is an old word for batch (scripts/glossary.ts)',
    'a.ts declares UntoldMinutes: "untold" is an old word for not indexed (scripts/glossary.ts)',
  ])
  const root = fileURLToPath(new URL('../..', import.meta.url))
  expect(declaringFiles(root).has('services/worker/run.ts')).toBe(true)
})

const textFaults = (source: string) => pageTextFaults(new Map([['a.tsx', source]])).map((fault) => fault.slice(7))

it.each([
  ["head: 'Made'", 'Made'],
  ['<button>\n  Go on\n</button>', 'Go on'],
  ['title="This key may not write"', 'This key may not write'],
  [`\`\${who} is told\``, 'is told'],
  ['<p>\n  Prices that the server\n  brings.\n</p>', 'Prices that the server brings.'],
])('a text of the page in words of its own is a fault: %s', (source, text) => {
  expect(textFaults(source)).toEqual([expect.stringContaining(`"${text}"`)])
})

it('comments, names of classes and code are no texts', () => {
  expect(
    textFaults('// It tells who.\n/** What is told here. */\nconst Made = told(1)\n<p className="told" />'),
  ).toEqual([])
})

it('the page has none', () => {
  const sources = pageSources(fileURLToPath(new URL('../..', import.meta.url)))
  expect(sources.size).toBeGreaterThan(200)
  expect(pageTextFaults(sources)).toEqual([])
})
