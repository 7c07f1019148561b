// Names that are built from words that docs/glossary.md does not know.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../services/app/config.ts'
import { topics } from '../services/events/registry.ts'

type Named = { kind: 'folder' | 'setting' | 'metric' | 'table' | 'topic'; name: string; where: string }

const singular = (word: string): string =>
  word
    .replace(/ies$/, 'y')
    .replace(/leaves$/, 'leaf')
    .replace(/(tch|sh|x|ss|ias)es$/, '$1')
    .replace(/(?<![su])s$/, '')
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .match(/[a-z]+/g)
    ?.map(singular) ?? []

/** The first column of every table. */
export const glossaryWords = (markdown: string): Set<string> =>
  new Set([...markdown.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, cell = '']) => wordsOf(cell)))

const table = /CREATE (?:TABLE|MATERIALIZED VIEW)(?: IF NOT EXISTS)? callhouse\.(\w+)/g
const metric = /'callhouse_([a-z_]+)'/g

/** Folders, settings, metrics, tables and topics of the repository. */
export function namesOf(root: string): Named[] {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0').filter(Boolean)
  const named: Named[] = []
  const found = (file: string, kind: Named['kind'], pattern: RegExp) => {
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(pattern))
      named.push({ kind, name, where: file })
  }
  for (const file of files) {
    const folder = file.slice(0, file.lastIndexOf('/') + 1)
    // The official .proto files keep their own folders.
    if (/^(?:services|schemas|clickhouse|scripts|test|docs|deploy)\//.test(folder) && !folder.includes('opentelemetry'))
      named.push({ kind: 'folder', name: folder, where: folder })
    if (file.startsWith('clickhouse/')) found(file, 'table', table)
    if (/^services\/.*\.ts$/.test(file)) found(file, 'metric', metric)
  }
  for (const { flag, env } of settings) named.push({ kind: 'setting', name: flag, where: env })
  for (const { name } of Object.values(topics))
    named.push({ kind: 'topic', name, where: 'services/events/registry.ts' })
  return named
}

/** One line for each word that is missing, with the first name that holds it. */
export function glossaryFaults(names: readonly Named[], words: ReadonlySet<string>): string[] {
  const faults = new Map<string, string>()
  for (const { kind, name, where } of names)
    for (const word of wordsOf(name))
      if (!words.has(word) && !faults.has(word))
        faults.set(word, `docs/glossary.md does not know "${word}" of the ${kind} ${name} (${where})`)
  return [...faults.values()]
}
