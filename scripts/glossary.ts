// Names that are built from words that docs/glossary.md does not know, and texts of the page in words of their own.
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
export function namedThings(root: string): Named[] {
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

/**
 * Words that names in the code had and should not get again, and what is said instead. Names of tables and columns
 * stay, see the last table of docs/glossary.md; `except` are names that have the word from elsewhere.
 */
const oldWords: Record<string, { instead: string; except?: readonly string[] }> = {
  // Published clients call the class of an object so.
  leaf: { instead: 'field value', except: ['leafClass'] },
  leaves: { instead: 'field index' },
  // The column of the tables of calls.
  odd: { instead: 'non-native JSON', except: ['odd'] },
  portion: { instead: 'batch' },
  portions: { instead: 'batches' },
  lane: { instead: 'identity scope' },
  folded: { instead: 'merged' },
  touched: { instead: 'affected' },
  swept: { instead: 'deduplicated' },
  sweep: { instead: 'deduplicate, remove' },
  told: { instead: 'what it is: a fault, an answer' },
  tells: { instead: 'what it does: returns, shows' },
  untold: { instead: 'not indexed' },
  hurry: { instead: 'flush' },
  narrowed: { instead: 'refined' },
  light: { instead: 'header' },
  upto: { instead: 'upTo' },
}

const declaration = /\b(?:const|let|function\*?|type|class)\s+(\w+)/g

/** @param files texts of TypeScript by path. Looks at what they declare, one line for each name with an old word. */
export function oldWordFaults(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) =>
    [...text.matchAll(declaration)].flatMap(([, name = '']) =>
      name.split(/(?=[A-Z])|_/).flatMap((part) => {
        const old = Object.hasOwn(oldWords, part.toLowerCase()) ? oldWords[part.toLowerCase()] : undefined
        if (old === undefined || old.except?.includes(name)) return []
        return [
          `${file} declares ${name}: "${part.toLowerCase()}" is an old word for ${old.instead} (scripts/glossary.ts)`,
        ]
      }),
    ),
  )
}

/** The TypeScript whose names are looked at: everything but tests and the page, whose tree has leaves and whose theme is light. */
export function declaringFiles(root: string): Map<string, string> {
  const listed = execFileSync('git', ['ls-files', '-z', 'services/*.ts', 'schemas/*.ts', 'scripts/*.ts'], { cwd: root })
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => file !== '' && !file.startsWith('services/web/page/'))
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

/** Labels and phrases that the page had, and the standard term that it has now. A label is a whole text, a phrase any part. */
const oldLabels: Record<string, string> = {
  Made: 'Created',
  Make: 'Create',
  Took: 'Duration',
  Own: 'Self time, Custom',
  Why: 'Reason',
  Ids: 'IDs',
  Usual: 'Normal',
  'As usual': 'Reset',
  'Go on': 'Continue',
  'At one time': 'Concurrent',
}
const oldPhrases: readonly (readonly [RegExp, string])[] = [
  [/\bthis key may\b/i, 'You don’t have permission to …'],
  [/\b(?:for ever|unless told)\b/i, 'forever, default'],
  [/\bfrom then on\b/i, 'when it applies: from the next request, immediately'],
  [/\b(?:brings?|told|tells?|stands?|takes?)\b/i, 'a plain verb: has, shows, is, uses, needs'],
  [/\b(?:a|per) minute and\b|\bat one time\b/i, 'per minute, concurrent'],
  [/\blies elsewhere\b/i, 'is external'],
  [/\bof its own\b/i, 'custom'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\b(?:take|taken) back\b|\btake .{1,20} back\b/i, 'undo'],
  [/\bthere is no such\b/i, 'not found'],
]

const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
/** Texts in quotes, and those between tags. */
const pageTexts = /'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`((?:[^`\\]|\\.)*)`|>([^<>{}=;()]*)(?=[<{])/g

/** @param files texts of the page's sources by path. One line for each text with an old label or phrase. */
export function pageTextFaults(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, source]) =>
    [...source.replace(comments, '').matchAll(pageTexts)].flatMap(([, single, double, template, between]) => {
      const text = (single ?? double ?? template?.replace(/\$\{[^}]*\}/g, '') ?? between ?? '')
        .replace(/\s+/g, ' ')
        .trim()
      // A quote within a template looks like the end of it: what follows is code.
      if (/[;{}]|=>/.test(text)) return []
      const label = Object.hasOwn(oldLabels, text) ? oldLabels[text] : undefined
      const [, instead = label] =
        (text.includes(' ') ? oldPhrases.find(([phrase]) => phrase.test(text)) : undefined) ?? []
      return instead === undefined ? [] : [`${file}: "${text.slice(0, 80)}": say ${instead} (scripts/glossary.ts)`]
    }),
  )
}

export function pageSources(root: string): Map<string, string> {
  const listed = execFileSync('git', ['ls-files', '-z', 'services/web/page/*.ts', 'services/web/page/*.tsx'], {
    cwd: root,
  })
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => file !== '' && !file.endsWith('.gen.ts'))
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
