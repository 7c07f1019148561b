// SQL of the worker and of commands for operators, kept as files under clickhouse/statements.
import { readFileSync } from 'node:fs'
import type { Query } from './store.ts'

const texts = new Map<string, string>()

const comments = /^(?:--.*\n)+/
const placeholder = /\$\{(\w+)\}/g

/** The text of a file, without the comment that it begins with. */
function statementText(name: string): string {
  let text = texts.get(name)
  if (text === undefined) {
    const file = readFileSync(new URL(`../../../clickhouse/statements/${name}.sql`, import.meta.url), 'utf8')
    text = file.replace(comments, '').trimEnd()
    texts.set(name, text)
  }
  return text
}

/**
 * A statement by its file name; `name` of the query is the file name.
 * @param parts what stands for `${name}` in the file: a table, a partition, a condition, from closed lists of the program or
 * from the engine itself, or rows that are encoded already. Values are parameters.
 */
export function statement(
  name: string,
  params: Record<string, unknown> = {},
  parts?: Readonly<Record<string, string>>,
): Query {
  const text = statementText(name)
  if (parts === undefined) return { name, sql: text, params }
  const sql = text.replace(placeholder, (_, part: string) => {
    if (parts[part] === undefined) throw new Error(`statement ${name} needs ${part}`)
    return parts[part]
  })
  return { name, sql, params }
}
