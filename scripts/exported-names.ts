// Names that two files export: a name has one declaration, so that looking for it leads to one place.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The server with its scripts, the page and the tests are read apart: each may have a `Row` of its own. */
const programs = ['services/web/page/', 'test/', '']

/**
 * Short words of small vocabularies (schemas, columns of topics, fixtures), and names that are still to be parted. The
 * list only becomes shorter: a name that has one declaration again is refused here.
 */
const shared = new Set(
  `
  Item Kind Scope Value choice isObject list optional pageQuery text
  test:post test:project test:setup
  `
    .trim()
    .split(/\s+/),
)

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|type|interface|class|enum) (\w+)/gm

/** `test:Row` for a name of the tests, `page:Row` for one of the page, `Row` for one of the server. */
function qualified(file: string, name: string): string {
  const program = programs.find((folder) => file.startsWith(folder))
  return program === 'test/' ? `test:${name}` : program === '' ? name : `page:${name}`
}

/**
 * One line for each name with more than one declaration, and for each that is called shared and has only one.
 * @param sources text of each file by its path
 */
export function exportedNameFaults(
  sources: ReadonlyMap<string, string>,
  allowed: ReadonlySet<string> = shared,
): string[] {
  const declared = new Map<string, Set<string>>()
  for (const [file, text] of sources)
    for (const [, name = ''] of text.matchAll(declaration)) {
      const key = qualified(file, name)
      declared.set(key, (declared.get(key) ?? new Set()).add(file))
    }
  const faults: string[] = []
  for (const [name, files] of declared)
    if (files.size > 1 && !allowed.has(name))
      faults.push(`${name} is exported by ${[...files].join(' and ')}: a name of its own for one of them`)
  for (const name of allowed)
    if ((declared.get(name)?.size ?? 0) < 2) faults.push(`${name} needs no place in scripts/exported-names.ts any more`)
  return faults
}

/** The text of each TypeScript file of a repository, by its path. */
export function exportingSources(root: string): Map<string, string> {
  const files = execFileSync('git', ['ls-files', '-z', '*.ts', '*.tsx', '*.mts'], { cwd: root }).toString().split('\0')
  return new Map(files.filter(Boolean).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
