// Places of SQL: .sql files, and the rooms that build it. Everywhere else a statement is a file with a name.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders whose TypeScript builds statements, and the one file that adds to them what of a project may be seen. */
const rooms = ['services/query/', 'services/operations/', 'services/core/store/', 'services/events/project-query.ts']

/**
 * Statements of SQL that no other text contains. A condition or a column may stand beside the name of its table, in a
 * list of tables that one statement file is run for.
 */
const statements = [
  /\bSELECT\s+[\w'"({*$]/,
  /\b(?:FROM|JOIN|INTO|TABLE|VIEW|EXISTS|UPDATE)\s+(?:callhouse|system)\.[\w$]/,
  /\b(?:KILL (?:QUERY|MUTATION)|SYSTEM (?:DROP|RELOAD|FLUSH|STOP|START|SYNC))\s/,
  /(?<![.\w])sql`/,
]

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/\*|\*)/.test(line)

/** One line for each file with SQL in it that lies elsewhere. @param sources text of each file by its path */
export function sqlPlaceFaults(sources: ReadonlyMap<string, string>): string[] {
  const faults: string[] = []
  for (const [file, text] of sources) {
    if (rooms.some((room) => file.startsWith(room))) continue
    const code = text.split('\n').map((line) => (isComment(line) ? '' : line))
    const found = statements.map((one) => one.exec(code.join('\n'))?.index ?? -1).filter((at) => at >= 0)
    if (found.length === 0) continue
    const line = code
      .join('\n')
      .slice(0, Math.min(...found))
      .split('\n').length
    faults.push(`${file}:${line} has SQL: a file of clickhouse/statements instead, or ${rooms.slice(0, 3).join(', ')}`)
  }
  return faults
}

/** The text of each TypeScript file of the services, by its path. */
export function servicesSources(root: string): Map<string, string> {
  const files = execFileSync('git', ['ls-files', '-z', 'services/*.ts', 'services/*.tsx'], { cwd: root })
  const names = files.toString().split('\0').filter(Boolean)
  return new Map(names.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
