// The conditions of a call query as SQL: those on columns in the row of the call, payload ones as a look into the payload table.

import { identifier, join, param, type Sql, sql } from '../../../core/store/sql.ts'
import type { ProjectScope } from '../../../events/project-query.ts'
import type { ColumnSql } from '../../language/types.ts'
import { allOf, isRoot, type Scope, scopeConditions, timeConditions } from '../scope.ts'
import { documentSql } from '../span-dump.ts'
import {
  type DerivedTexts,
  isOfOneTable,
  preFilterCondition,
  readsTraces,
  traceCondition,
  withDerivedFields,
} from './derived-fields.ts'
import { isComputed, isDocument } from './fields.ts'
import type { CompiledCallsQuery, CompiledCondition, DerivedField, Document, HeaderColumn } from './types.ts'
import { isIndexed, mayHoldText } from './word-index.ts'

// No condition goes to PREWHERE under FINAL: it would be tested before versions merge, and every column but the key may
// change when a start or an end is sent again.

/** Documents that come with a start, and with an end. */
export type Side = 'start' | 'end'

const endDocuments: ReadonlySet<Document> = new Set<Document>(['output', 'summary', 'mask_end', 'billed_usage'])

export const sideOf = (document: Document): Side => (endDocuments.has(document) ? 'end' : 'start')

/** Verdicts on documents that the engine cannot read: accept timestamps of parts, and calls by key, that match. */
export type NonNativeVerdicts = { start: string[]; end: string[]; calls: { startedUs: number[]; ids: string[] } }

export type CallConditions = {
  header: CompiledCondition[]
  /** Conjuncts that read documents of one side and nothing else. */
  start: CompiledCondition[]
  end: CompiledCondition[]
  /** Conjuncts that read both sides, documents and columns of the call header, or derived texts beside others. */
  mixed: CompiledCondition[]
  /** Conjuncts that read texts made from feedback, or from queues, or whole traces, and nothing else. */
  preFilters: CompiledCondition[]
  derived: DerivedTexts
  /** null = the project holds no documents with non-native JSON. */
  nonNative: NonNativeVerdicts | null
  /** Whether payloads have an index of words. */
  words: boolean
}

export function conditionsOf(query: Pick<CompiledCallsQuery, 'header' | 'payload' | 'derivedFields'>): CallConditions {
  const derived = { fields: query.derivedFields, behind: new Map() }
  const conditions: CallConditions = {
    header: query.header,
    start: [],
    end: [],
    mixed: [],
    preFilters: [],
    derived,
    nonNative: null,
    words: false,
  }
  for (const condition of query.payload) {
    if (condition.derived.size > 0) {
      conditions[isOfOneTable(condition) ? 'preFilters' : 'mixed'].push(condition)
      continue
    }
    const sides = new Set([...condition.needs].map(sideOf))
    const [side] = sides
    if (sides.size === 1 && condition.columns.size === 0 && side) conditions[side].push(condition)
    else conditions.mixed.push(condition)
  }
  return conditions
}

export const readsPayloads = ({ start, end, mixed }: CallConditions): boolean =>
  start.length + end.length + mixed.length > 0

export const ofHeader: ColumnSql = (column) => identifier(`c.${column}`)
const ofPayload: ColumnSql = (column) => (isDocument(column) ? documentSql(column) : identifier(column))

/** An id that the primary key does not see: a large set would cost more to look up in it than to compare. */
const plainId = (column: Sql): Sql => sql`concat(${column}, '')`

const parts: Record<Side, Sql> = { start: sql`part IN ('both', 'start')`, end: sql`part IN ('both', 'end')` }

/** Visible calls of the scope that meet the conditions on columns, under the alias `c`. */
const headerConditions = (project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] => [
  ...scopeConditions(project, scope),
  ...conditions.header.map((condition) => (condition.isOfRoots ? isRoot(project) : sql`(${condition.sql(ofHeader)})`)),
]

/** Conditions on the times of one side's payload rows for the calls of a scope. */
function payloadTimeConditions(project: ProjectScope, scope: Scope, side: Side): Sql[] {
  const at = sql`at`
  if (side === 'start') return timeConditions(project, at, scope)
  const outputs = (where: Sql[]): Sql =>
    sql`at IN (SELECT c.output_at ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })})`
  if (scope.index || scope.keys || scope.times) return [outputs(scopeConditions(project, scope))]
  // Ends that came alone lie at their own time, mostly but not always where their calls do.
  const inside = (column: Sql): Sql[] => timeConditions(project, column, scope)
  if (inside(at).length === 0) return []
  const outside = sql`NOT (${allOf(inside(sql`c.output_at`))})`
  return [sql`(${allOf(inside(at))} OR ${outputs([...scopeConditions(project, scope), outside])})`]
}

/** Payload rows of one side for the calls of a scope; a superset, which the accept timestamp makes exact. */
export const payloadRows = (project: ProjectScope, scope: Scope, side: Side): Sql =>
  allOf([parts[side], ...payloadTimeConditions(project, scope, side)])

const withNonNative = (condition: Sql, matching: string[] | undefined): Sql =>
  matching === undefined ? condition : sql`if(odd = 1, clock IN ${param('Array(UInt64)', matching)}, ${condition})`

/** The test of a condition by the index of words. */
function wordsOf({ tree }: CompiledCondition): Sql[] {
  if (tree.is !== 'contains' || tree.input.is !== 'json' || tree.substr.is !== 'literal') return []
  const { document, over, ref } = tree.input.json
  if (over || ref || !isIndexed(document)) return []
  const test = mayHoldText(document, String(tree.substr.value))
  return test ? [test] : []
}

function sideCondition(project: ProjectScope, scope: Scope, conditions: CallConditions, side: Side): Sql[] {
  const own = conditions[side]
  if (own.length === 0) return []
  const version = identifier(side === 'start' ? 'c.start_ver' : 'c.end_ver')
  const holds = withNonNative(
    allOf(own.map((condition) => sql`(${condition.sql(ofPayload)})`)),
    conditions.nonNative?.[side],
  )
  const words = conditions.words ? own.flatMap(wordsOf) : []
  const where = allOf([payloadRows(project, scope, side), ...words, holds])
  const found = sql`(${version}, ${plainId(sql`c.id`)}) IN (SELECT clock, id ${project.from('payloads', { where })})`
  // A running call has no documents of an end: what holds for empty ones holds for it.
  const absent = side === 'end' && own.every((condition) => condition.evaluate({ output: '', summary: '' }))
  return [absent ? sql`(c.end_ver = 0 OR ${found})` : found]
}

type Reads = { columns: ReadonlySet<HeaderColumn>; needs: ReadonlySet<Document>; derived: ReadonlySet<DerivedField> }

const named = (from: Iterable<string>): Sql =>
  join(
    [...from].map((name) => sql`c.${identifier(name)} AS ${identifier(name)}`),
    ', ',
  )

/**
 * Calls of a scope with columns, documents and derived texts side by side, as a subquery: `SELECT … FROM <this> AS c`.
 */
export function withDocumentsAndDerived(
  project: ProjectScope,
  scope: Scope,
  where: Sql[],
  reads: Reads,
  derived: CallConditions['derived'],
): Sql {
  const ofTraces = readsTraces(reads.derived) ? (['trace_id'] as const) : []
  const names = new Set(['started_at', 'id', 'start_ver', 'end_ver', ...ofTraces, ...reads.columns])
  const rows = documentRows(project, scope, where, reads.needs, names)
  return withDerivedFields(project, scope, rows, ['odd', ...names, ...reads.needs], reads.derived, derived)
}

/** Number of copies of the conditions on calls in the joins of documents. */
export const copiesFor = ({ needs }: Pick<Reads, 'needs'>): number => (new Set([...needs].map(sideOf)).size > 1 ? 4 : 1)

/** The payload rows stream past a table of call headers, so that texts are not held in memory. */
function documentRows(
  project: ProjectScope,
  scope: Scope,
  where: Sql[],
  needs: ReadonlySet<Document>,
  names: ReadonlySet<string>,
): Sql {
  const calls = (more: Sql[]): Sql =>
    sql`SELECT ${named(names)} ${project.from('calls', { alias: 'c', final: true, where: allOf([...where, ...more]) })}`
  const documents = { start: [] as Document[], end: [] as Document[] }
  for (const document of needs) documents[sideOf(document)].push(document)
  if (needs.size === 0) return sql`(SELECT c.*, 0 AS odd FROM (${calls([])}) AS c)`
  if (documents.start.length === 0 || documents.end.length === 0) {
    const side = documents.start.length > 0 ? 'start' : 'end'
    const rows = payloadRows(project, scope, side)
    return sql`(${withDocuments(project, { side, rows, documents: documents[side], names, light: calls([]) })})`
  }
  // A call that came whole has all its documents in one row.
  const whole = withDocuments(project, {
    side: 'start',
    rows: allOf([sql`part = 'both'`, payloadRows(project, scope, 'start')]),
    documents: [...documents.start, ...documents.end],
    names,
    light: calls([sql`c.start_ver = c.end_ver`]),
  })
  // The others have them in two; only their texts are held in memory.
  const apart = [...where, sql`c.start_ver != c.end_ver`]
  const ids = sql`${plainId(sql`id`)} IN (SELECT c.id ${project.from('calls', { alias: 'c', final: true, where: allOf(apart) })})`
  const starts = withDocuments(project, {
    side: 'start',
    rows: allOf([payloadRows(project, scope, 'start'), ids]),
    documents: documents.start,
    names,
    light: calls([sql`c.start_ver != c.end_ver`]),
  })
  const both = withDocuments(project, {
    side: 'end',
    rows: allOf([payloadRows(project, scope, 'end'), ids]),
    documents: documents.end,
    names: new Set([...names, 'odd', ...documents.start]),
    light: starts,
  })
  const list = join(['odd', ...names, ...documents.start, ...documents.end].map(identifier), ', ')
  return sql`(SELECT ${list} FROM (${whole}) UNION ALL SELECT ${list} FROM (${both}))`
}

/** Names of expressions over columns that are called as they are. */
const textNames: Partial<Record<Document, string>> = {
  otel_dump: 'raw_span',
  billed_usage: 'billed_text',
  counts_cached: 'cached_text',
}

/**
 * Whether ids are the same, for joins beside the time of acceptance, which few calls share: two numbers are joined in half
 * the time that a number and a text take.
 */
const sameId = (one: Sql, other: Sql): Sql => sql`cityHash64(${one}) = cityHash64(${other})`

/**
 * Adds the documents of one side to rows that hold a call's versions; `odd` tells whether one of them holds non-native
 * JSON. A batch that was applied again left its payload rows twice until they merge: any of them will do.
 */
function withDocuments(
  project: ProjectScope,
  add: { side: Side; rows: Sql; documents: Document[]; names: ReadonlySet<string>; light: Sql },
): Sql {
  const { side, rows, documents, names, light: calls } = add
  // A column and an expression of it cannot go by one name.
  const called = (name: Document): Sql => identifier(textNames[name] ?? name)
  const texts = join(
    documents.map((name) => (isComputed(name) ? sql`${documentSql(name)} AS ${called(name)}` : identifier(name))),
    ', ',
  )
  const added = join(
    documents.map((name) => sql`p.${called(name)} AS ${identifier(name)}`),
    ', ',
  )
  const kept = new Set(names)
  const odd = kept.delete('odd') ? sql`greatest(p.odd, c.odd)` : sql`p.odd`
  return sql`SELECT ${named(kept)}, ${odd} AS odd, ${added}
    FROM (SELECT clock, id, odd, ${texts} ${project.from('payloads', { where: rows })}) AS p
    RIGHT ANY JOIN (${calls}) AS c ON p.clock = c.${identifier(`${side}_ver`)} AND ${sameId(sql`p.id`, sql`c.id`)}`
}

const readsOfConditions = (conditions: readonly CompiledCondition[]) => ({
  columns: new Set(conditions.flatMap((condition) => [...condition.columns])),
  needs: new Set(conditions.flatMap((condition) => [...condition.needs])),
  derived: new Set(conditions.flatMap((condition) => [...condition.derived])),
})

/** Columns and documents that the mixed conditions read. */
export const mixedReads = (conditions: CallConditions) => readsOfConditions(conditions.mixed)

/** Calls of a scope with all that the mixed conditions read. */
export const mixedRows = (project: ProjectScope, scope: Scope, conditions: CallConditions): Sql =>
  withDocumentsAndDerived(
    project,
    scope,
    headerConditions(project, scope, conditions),
    mixedReads(conditions),
    conditions.derived,
  )

function mixedCondition(project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] {
  if (conditions.mixed.length === 0) return []
  const rows = mixedRows(project, scope, conditions)
  let holds = allOf(conditions.mixed.map((condition) => sql`(${condition.sql(ofHeader)})`))
  if (conditions.nonNative) {
    const { startedUs, ids } = conditions.nonNative.calls
    const listed = sql`(toUnixTimestamp64Micro(c.started_at), c.id) IN
      (SELECT arrayJoin(arrayZip(${param('Array(Int64)', startedUs)}, ${param('Array(String)', ids)})))`
    holds = sql`if(c.odd = 1, ${listed}, ${holds})`
  }
  return [
    sql`(c.start_ver, c.end_ver, ${plainId(sql`c.id`)}) IN
      (SELECT c.start_ver, c.end_ver, c.id FROM ${rows} AS c WHERE ${holds})`,
  ]
}

/** The conditions on a call that can be tested without its payload. */
export function cheapConditions(project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] {
  const { fields } = conditions.derived
  const ofTraces = conditions.preFilters.filter(({ derived }) => readsTraces(derived))
  const others = conditions.preFilters.filter((condition) => !ofTraces.includes(condition))
  return [
    ...headerConditions(project, scope, conditions),
    ...others.map((condition) => preFilterCondition(project, scope, fields, condition)),
    ...(ofTraces.length > 0 ? [traceCondition(project, fields, ofTraces)] : []),
  ]
}

/** Everything that a call must meet: scope, visibility, conditions on columns and on payloads, under the alias `c`. */
export const callConditions = (project: ProjectScope, scope: Scope, conditions: CallConditions): Sql[] => [
  ...cheapConditions(project, scope, conditions),
  ...sideCondition(project, scope, conditions, 'start'),
  ...sideCondition(project, scope, conditions, 'end'),
  ...mixedCondition(project, scope, conditions),
]
