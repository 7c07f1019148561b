// Folders that nobody finds the way in: many files and no README; and pages that name files that do not exist.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const maxFiles = 8
const maxReadmeLines = 10

/** The texts of pages by their paths, and the paths of all files. */
type Pages = { files: readonly string[]; texts: ReadonlyMap<string, string> }

const isReadme = (file: string): boolean => basename(file) === 'README.md'

/** The table of contents of the documentation has a line for each page. */
const contents = 'docs/README.md'

/** Every folder with more than eight files says in at most ten lines what it is for. The root's README is the product's. */
export function readmeFaults({ files, texts }: Pages): string[] {
  const faults: string[] = []
  const byFolder = Map.groupBy(
    files.filter((file) => file.includes('/')),
    (file) => dirname(file),
  )
  for (const [folder, own] of byFolder) {
    const readme = own.find(isReadme)
    const others = own.filter((file) => file !== readme).length
    if (readme === undefined && others > maxFiles) faults.push(`${folder} has ${others} files and no README.md`)
    const lines = readme === undefined ? 0 : (texts.get(readme)?.trimEnd().split('\n').length ?? 0)
    if (lines > maxReadmeLines && readme !== contents)
      faults.push(`${readme} has ${lines} lines, more than ${maxReadmeLines}`)
  }
  return faults
}

/** Names of files in code spans and links. `*` and `<noun>` stand for something, and addresses are no files of ours. */
const spans = /`([^`\n]+)`|\]\(([^)\s]+)\)/g
const fileName = /(?<![\w/.<>*:-])(?:[\w.-]+\/)*[\w.-]*\w\.(?:tsx?|mjs|mts|sql|py|md|json)(?![\w*])/g

const namedIn = (text: string): string[] =>
  [...text.matchAll(spans)].flatMap(([, code, link]) =>
    /^\w+:\/\//.test(link ?? '') ? [] : ((code ?? link ?? '').match(fileName) ?? []),
  )

/** Files that the product writes or reads at run time, which pages name too. */
const ofUsers = new Set(['backup.json', 'keys.json', 'manifest.json', 'prices.json', 'providers.json'])

/**
 * Every file that a page names is there: in the page's folder, or below it, or by its path from the root. A name without
 * a folder in another page is any file's.
 */
export function missingFiles({ files, texts }: Pages): string[] {
  const endings = new Set(files.flatMap((file) => file.split('/').map((_, i, parts) => parts.slice(i).join('/'))))
  const isThere = (page: string, name: string): boolean => {
    const bare = name.replace(/^(?:\.\.?\/)+/, '')
    if (!isReadme(page)) return endings.has(bare)
    return files.includes(name) || files.includes(join(dirname(page), name))
  }
  return [...texts].flatMap(([page, text]) =>
    [...new Set(namedIn(text))]
      .filter((name) => !ofUsers.has(name) && !isThere(page, name))
      .map((name) => `${page} names ${name}, which is not there`),
  )
}

/** The changelog and the decision records tell of files as they were called. */
const isHistory = (file: string): boolean => file === 'CHANGELOG.md' || file.startsWith('docs/adr/0')

/** Files that git knows, and the pages among them that have to be true today. */
export function repositoryPages(root: string): Pages {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const files = listed.toString().split('\0').filter(Boolean)
  const pages = files.filter((file) => file.endsWith('.md') && !isHistory(file))
  return { files, texts: new Map(pages.map((file) => [file, readFileSync(join(root, file), 'utf8')])) }
}
