// The worker's own SQL, kept as files under clickhouse/statements.
import { readFileSync } from 'node:fs'
import type { Query } from '../core/store/store.ts'

const texts = new Map<string, string>()

/** A statement by its file name; `name` of the query is the file name. */
export function statement(name: string, params: Record<string, unknown> = {}): Query {
  let sql = texts.get(name)
  if (sql === undefined) {
    sql = readFileSync(new URL(`../../clickhouse/statements/${name}.sql`, import.meta.url), 'utf8')
    texts.set(name, sql)
  }
  return { name, sql, params }
}
