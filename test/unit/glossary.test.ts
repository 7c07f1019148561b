// The check of names against docs/glossary.md.
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { glossaryFaults, glossaryWords, namesOf } from '../../scripts/glossary.ts'

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
  const named = namesOf(fileURLToPath(new URL('../..', import.meta.url)))
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
