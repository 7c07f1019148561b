// SQL text built from fragments: every value is a `{name:Type}` parameter, every project table is read behind its project filter.
import type { ProjectId } from '../ids.ts'
import { doubleText } from '../json/number-text.ts'
import type { Query } from './store.ts'

/** ClickHouse types that a parameter may have. */
export type ParamType =
  | 'String'
  | 'Int64'
  | 'UInt64'
  | 'UInt32'
  | 'UInt8'
  | 'Float64'
  | 'Array(String)'
  | 'Array(Int64)'
  | 'Array(UInt64)'
  | 'Array(Float64)'

type Bound = { type: ParamType; value: unknown }

/** A piece of SQL with its values; only `sql`, `param` and the functions below make one. */
export type Sql = { readonly texts: readonly string[]; readonly parts: readonly (Sql | Bound)[] }

/** Tagged template. Interpolations are fragments, so a value can only come in through `param`. */
export const sql = (texts: TemplateStringsArray, ...parts: Sql[]): Sql => ({ texts, parts })

/** A value as a parameter of a fixed type. */
export const param = (type: ParamType, value: unknown): Sql => ({ texts: ['', ''], parts: [{ type, value }] })

const empty: Sql = { texts: [''], parts: [] }

/** Fragments one after the other, with a separator between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return empty
  return { texts: ['', ...Array(parts.length - 1).fill(separator), ''], parts }
}

const name = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$/

/** Name of a table, column or alias from a closed list of the program; anything else throws. */
export function identifier(text: string): Sql {
  if (!name.test(text)) throw new Error(`not an identifier: ${JSON.stringify(text)}`)
  return { texts: [text], parts: [] }
}

const isSql = (part: Sql | Bound): part is Sql => 'texts' in part

/** Tells values of one type apart; JSON has no text for some numbers. */
function keyOf({ type, value }: Bound): string {
  if (typeof value === 'bigint') return String(value)
  if (!type.includes('Float')) return JSON.stringify(value)
  return (Array.isArray(value) ? value : [value]).map((one) => doubleText(Number(one))).join()
}

/** Text and parameters. Equal values of one type share a parameter, so that the engine sees equal expressions as equal. */
export function render(fragment: Sql): { sql: string; params: Record<string, unknown> } {
  const params: Record<string, unknown> = {}
  const names = new Map<string, string>()
  const out: string[] = []
  const bind = (one: Bound): string => {
    const { type, value } = one
    const key = `${type} ${keyOf(one)}`
    let bound = names.get(key)
    if (bound === undefined) {
      bound = `v${names.size}`
      names.set(key, bound)
      params[bound] = value
    }
    return `{${bound}:${type}}`
  }
  const write = ({ texts, parts }: Sql): void => {
    out.push(texts[0] as string)
    for (const [index, part] of parts.entries()) {
      if (isSql(part)) write(part)
      else out.push(bind(part))
      out.push(texts[index + 1] as string)
    }
  }
  write(fragment)
  return { sql: out.join(''), params }
}

type From = {
  alias?: string
  final?: boolean
  where?: Sql
}

/** @template Table names of the tables whose rows belong to projects */
export type ScopeOf<Table extends string> = {
  /** `FROM <table> … WHERE project_id = … [AND where]`: the project filter is part of the table's name, so to say. */
  from(table: Table, options?: From): Sql
}

/** The visible part of a table, as a condition on a column that is named for it; undefined = all of it. */
export type Visible<Table extends string> = (table: Table, column: (name: string) => Sql) => Sql | undefined

/** A query on project tables. Each table comes from the scope, which puts the project first, and then what may be seen. */
export function queryOfProject<Table extends string>(
  queryName: string,
  projectId: ProjectId,
  build: (project: ScopeOf<Table>) => Sql,
  visible: Visible<Table> = () => undefined,
): Query {
  const project = param('String', projectId)
  let tables = 0
  const scope: ScopeOf<Table> = {
    from(table, { alias, final = false, where } = {}) {
      tables++
      const as = alias === undefined ? empty : sql` AS ${identifier(alias)}`
      const column = (text: string) => identifier(alias === undefined ? text : `${alias}.${text}`)
      const seen = visible(table, column)
      const filter = sql`${column('project_id')} = ${project}${seen === undefined ? empty : sql` AND ${seen}`}`
      const rest = where === undefined ? empty : sql` AND (${where})`
      return sql`FROM callhouse.${identifier(table)}${as}${final ? sql` FINAL` : empty} WHERE ${filter}${rest}`
    },
  }
  const fragment = build(scope)
  if (tables === 0) throw new Error(`query ${queryName} reads no project table`)
  return { name: queryName, ...render(fragment), projectId }
}

/**
 * A query on tables without projects (positions, system tables).
 * @param projectId the project of the request that asks, whose turn it takes
 */
export const systemQuery = (queryName: string, fragment: Sql, projectId?: ProjectId): Query => ({
  name: queryName,
  ...render(fragment),
  ...(projectId === undefined ? {} : { projectId }),
})
