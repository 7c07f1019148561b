// The conditions of a call query as SQL: light ones on the row, payload ones as a look into the payload table.
import { identifier, join, type ProjectScope, param, type Sql, sql } from '../../core/store/sql.ts'
import type { CompiledCallsQuery, CompiledCondition, Document, LightColumn, Sources } from '../expression/types.ts'
import { allOf, rangeConditions, type Scope, scopeConditions, timeConditions } from './scope.ts'

// No condition goes to PREWHERE under FINAL: it would be tested before versions merge, and every column but the key may
// change when a start or an end is sent again.

/** Documents that come with a start, and with an end. */
export type Side = 'start' | 'end'

const endDocuments: ReadonlySet<Document> = new Set<Document>(['output', 'summary'])

export const sideOf = (document: Document): Side => (endDocuments.has(document) ? 'end' : 'start')

/** Verdicts on documents that the engine cannot read: accept clocks of parts, and calls by key, that match. */
export type OddVerdicts = { start: string[]; end: string[]; calls: { startedUs: number[]; ids: string[] } }

export type CallConditions = {
  light: CompiledCondition[]
  /** Conjuncts that read documents of one side and nothing else. */
  start: CompiledCondition[]
  end: CompiledCondition[]
  /** Conjuncts that read both sides, or documents and light columns. */
  mixed: CompiledCondition[]
  /** null = the project holds no odd documents. */
  odd: OddVerdicts | null
}

export function conditionsOf(query: Pick<CompiledCallsQuery, 'light' | 'payload'>): CallConditions {
  const conditions: CallConditions = { light: query.light, start: [], end: [], mixed: [], odd: null }
  for (const condition of query.payload) {
    const sides = new Set([...condition.needs].map(sideOf))
    const [side] = sides
    if (sides.size === 1 && condition.columns.size === 0 && side) conditions[side].push(condition)
    else conditions.mixed.push(condition)
  }
  return conditions
}

export const readsPayloads = ({ start, end, mixed }: CallConditions): boolean =>
  start.length + end.length + mixed.length > 0

export const light: Sources = (column) => identifier(`c.${column}`)
const bare: Sources = (column) => identifier(column)

/** An id that the primary key does not see: a large set would cost more to look up in it than to compare. */
const plainId = (column: Sql): Sql => sql`concat(${column}, '')`

const parts: Record<Side, Sql> = { start: sql`part IN ('both', 'start')`, end: sql`part IN ('both', 'end')` }

/** Visible calls of the scope that meet the light conditions, under the alias `c`. */
export const lightConditions = (project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] => [
  ...scopeConditions(project, scope),
  ...conditions.light.map((condition) => sql`(${condition.sql(light)})`),
]

/** Where the payload rows of one side lie for the calls of a scope. */
function placeConditions(project: ProjectScope, scope: Scope, conditions: CallConditions, side: Side): Sql[] {
  const at = sql`at`
  const outputs = (where: Sql[]): Sql =>
    sql`at IN (SELECT c.output_at ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })})`
  const places: Sql[] = []
  if (side === 'start') places.push(...timeConditions(project, at, scope))
  else if (scope.index || scope.keys) places.push(outputs(scopeConditions(project, scope)))
  else {
    // Ends that came alone lie at their own time, mostly but not always inside the range.
    const inside = rangeConditions(at, scope.range)
    if (inside.length > 0) {
      const outside = sql`NOT (${allOf(rangeConditions(sql`c.output_at`, scope.range))})`
      places.push(sql`(${allOf(inside)} OR ${outputs([...scopeConditions(project, scope), outside])})`)
    }
  }
  if (conditions.light.length > 0) {
    const where = allOf(lightConditions(project, scope, conditions))
    places.push(sql`${plainId(sql`id`)} IN (SELECT c.id ${project.from('calls', { alias: 'c', final: true, where })})`)
  }
  return places
}

/** Payload rows of one side for the calls of a scope; a superset, which the accept clock makes exact. */
export const payloadRows = (project: ProjectScope, scope: Scope, conditions: CallConditions, side: Side): Sql =>
  allOf([parts[side], ...placeConditions(project, scope, conditions, side)])

const withOdd = (condition: Sql, matching: string[] | undefined): Sql =>
  matching === undefined ? condition : sql`if(odd = 1, clock IN ${param('Array(UInt64)', matching)}, ${condition})`

function sideCondition(project: ProjectScope, scope: Scope, conditions: CallConditions, side: Side): Sql[] {
  const own = conditions[side]
  if (own.length === 0) return []
  const version = identifier(side === 'start' ? 'c.start_ver' : 'c.end_ver')
  const holds = withOdd(allOf(own.map((condition) => sql`(${condition.sql(bare)})`)), conditions.odd?.[side])
  const where = sql`${payloadRows(project, scope, conditions, side)} AND ${holds}`
  const found = sql`(${version}, ${plainId(sql`c.id`)}) IN (SELECT clock, id ${project.from('payloads', { where })})`
  // A running call has no documents of an end: what holds for empty ones holds for it.
  const absent = side === 'end' && own.every((condition) => condition.evaluate({ output: '', summary: '' }))
  return [absent ? sql`(c.end_ver = 0 OR ${found})` : found]
}

/**
 * Calls of a scope with columns and documents side by side, as a subquery: `SELECT … FROM <this> AS c`. The payload
 * rows stream past a table of light rows, so texts are not held in memory (unless documents of both sides are needed).
 */
export function joined(
  project: ProjectScope,
  scope: Scope,
  conditions: CallConditions,
  reads: { columns: ReadonlySet<LightColumn>; needs: ReadonlySet<Document> },
  where: Sql[] = lightConditions(project, scope, conditions),
): Sql {
  const columns = new Set<string>(['started_at', 'id', 'start_ver', 'end_ver', ...reads.columns])
  const named = (from: Iterable<string>): Sql =>
    join(
      [...from].map((name) => sql`c.${identifier(name)} AS ${identifier(name)}`),
      ', ',
    )
  let rows = sql`SELECT ${named(columns)} ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })}`
  for (const side of ['start', 'end'] as const) {
    const documents = [...reads.needs].filter((document) => sideOf(document) === side)
    if (documents.length === 0) continue
    const own = ['odd', ...documents]
    const list = join(own.map(identifier), ', ')
    const payloads = project.from('payloads', { where: payloadRows(project, scope, conditions, side) })
    const texts = join(
      own.map((name) => sql`p.${identifier(name)} AS ${identifier(name === 'odd' ? `odd_${side}` : name)}`),
      ', ',
    )
    rows = sql`SELECT ${named(columns)}, ${texts} FROM (SELECT clock, id, ${list} ${payloads}) AS p
      RIGHT JOIN (${rows}) AS c ON p.clock = c.${identifier(`${side}_ver`)} AND p.id = c.id`
    columns.add(`odd_${side}`)
    for (const document of documents) columns.add(document)
  }
  return sql`(${rows})`
}

const readsOf = (conditions: readonly CompiledCondition[]) => ({
  columns: new Set(conditions.flatMap((condition) => [...condition.columns])),
  needs: new Set(conditions.flatMap((condition) => [...condition.needs])),
})

/** True for joined rows that hold an odd document. */
export function oddRow(needs: ReadonlySet<Document>): Sql {
  const sides = [...new Set([...needs].map(sideOf))]
  return join(
    sides.map((side) => sql`c.${identifier(`odd_${side}`)} = 1`),
    ' OR ',
  )
}

/** Columns and documents that the mixed conditions read. */
export const mixedReads = (conditions: CallConditions) => readsOf(conditions.mixed)

function mixedCondition(project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] {
  if (conditions.mixed.length === 0) return []
  const reads = mixedReads(conditions)
  let holds = allOf(conditions.mixed.map((condition) => sql`(${condition.sql(light)})`))
  if (conditions.odd) {
    const { startedUs, ids } = conditions.odd.calls
    const listed = sql`(toUnixTimestamp64Micro(c.started_at), c.id) IN arrayZip(${param('Array(Int64)', startedUs)}, ${param('Array(String)', ids)})`
    holds = sql`if(${oddRow(reads.needs)}, ${listed}, ${holds})`
  }
  return [
    sql`(c.start_ver, c.end_ver, ${plainId(sql`c.id`)}) IN
      (SELECT c.start_ver, c.end_ver, c.id FROM ${joined(project, scope, conditions, reads)} AS c WHERE ${holds})`,
  ]
}

/** Everything that a call must meet: scope, visibility, light and payload conditions, under the alias `c`. */
export const callConditions = (project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] => [
  ...lightConditions(project, scope, conditions),
  ...sideCondition(project, scope, conditions, 'start'),
  ...sideCondition(project, scope, conditions, 'end'),
  ...mixedCondition(project, scope, conditions),
]
