// Documents that the engine's JSON functions cannot read: the conditions on them are evaluated in this process.

import type { ProjectId } from '../../../core/ids.ts'
import { identifier, join, type Sql, sql } from '../../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../../core/store/store.ts'
import { projectQuery } from '../../../events/project-query.ts'
import { readTuples } from '../../compact-rows.ts'
import { evaluateValue } from '../../language/evaluate.ts'
import { allOf, rangeConditions, type Scope } from '../scope.ts'
import { documentSql } from '../span-dump.ts'
import {
  type CallConditions,
  mixedReads,
  mixedRows,
  type NonNativeVerdicts,
  payloadRows,
  type Side,
} from './conditions.ts'
import { isRefField } from './joins.ts'
import type { RefPlace, RefTexts } from './refs-behind.ts'
import type { CompiledCondition, Document } from './types.ts'

type Source = { store: Pick<Store, 'bytes'>; options: QueryOptions }

/** Does the project hold any document with non-native JSON in this range? */
export const anyNonNativeQuery = (projectId: ProjectId, range: Scope['range']): Query =>
  projectQuery('calls.any-non-native', projectId, (project) => {
    // Ends lie at or after their start, so only the lower bound is one for all parts.
    const lower = rangeConditions(sql`at`, { fromUs: range.fromUs, beforeUs: null })
    return sql`SELECT 1 ${project.from('payloads', { where: allOf([sql`odd = 1`, ...lower]) })} LIMIT 1 SETTINGS max_threads = 1`
  })

export async function anyNonNative(
  { store, options }: Source,
  scope: Pick<Scope, 'projectId' | 'range'>,
): Promise<boolean> {
  const answer = await store.bytes(anyNonNativeQuery(scope.projectId, scope.range), 'JSONCompactEachRow', options)
  return answer.length > 0
}

const documentsOfConditions = (conditions: readonly CompiledCondition[]): Document[] => [
  ...new Set(conditions.flatMap((condition) => [...condition.needs])),
]

export const nonNativePartsQuery = (scope: Scope, conditions: CallConditions, side: Side): Query =>
  projectQuery('calls.non-native-fragments', scope.projectId, (project) => {
    const where = sql`${payloadRows(project, scope, side)} AND odd = 1`
    const columns = join(documentsOfConditions(conditions[side]).map(documentSql), ', ')
    return sql`SELECT toString(clock) AS clock, ${columns} ${project.from('payloads', { where })}`
  })

/** Physical columns as the evaluator reads them. */
const readable = (name: string): Sql =>
  name === 'started_at' || name === 'ended_at'
    ? sql`toUnixTimestamp64Micro(c.${identifier(name)}) AS ${identifier(`${name}_us`)}`
    : sql`c.${identifier(name)}`

export const nonNativeCallsQuery = (scope: Scope, conditions: CallConditions): Query =>
  projectQuery('calls.non-native-calls', scope.projectId, (project) => {
    const reads = mixedReads(conditions)
    const names = ['started_at', 'id', ...[...reads.columns].filter((name) => name !== 'started_at' && name !== 'id')]
    const list = join([...names, ...reads.needs, ...reads.derived].map(readable), ', ')
    return sql`SELECT ${list} FROM ${mixedRows(project, scope, conditions)} AS c WHERE c.odd = 1`
  })

type MutableRow = Record<string, string | string[]>

/** The texts behind the refs of documents with non-native JSON. */
async function putBehind(rows: MutableRow[], refs: RefTexts): Promise<void> {
  const refAt = ({ ref }: RefPlace, row: MutableRow): string => String(evaluateValue({ is: 'json', json: ref }, row))
  const found = new Map(refs.places.map((place) => [place, [...new Set(rows.map((row) => refAt(place, row)))]]))
  const behind = await refs.behind(found)
  for (const place of refs.places)
    for (const { name } of place.fields) {
      const { refs: texts = [], documents = [] } = behind.get(name) ?? {}
      const documentOf = new Map(texts.map((text, n) => [text, documents[n] as string]))
      for (const row of rows) row[name] = documentOf.get(refAt(place, row)) ?? ''
    }
}

/** Finds the payload parts and calls with non-native JSON of a scope that meet the payload conditions. */
export async function findNonNative(
  source: Source,
  scope: Scope,
  conditions: CallConditions,
  refs: RefTexts,
): Promise<NonNativeVerdicts> {
  const { store, options } = source
  const read = (query: Query) => readTuples<(string | string[])[]>(store, query, options)
  const verdicts: NonNativeVerdicts = { start: [], end: [], calls: { startedUs: [], ids: [] } }
  for (const side of ['start', 'end'] as const) {
    const own = conditions[side]
    if (own.length === 0) continue
    const documents = documentsOfConditions(own)
    for (const [clock, ...texts] of await read(nonNativePartsQuery(scope, conditions, side))) {
      const row = Object.fromEntries(documents.map((document, n) => [document, texts[n] ?? '']))
      if (own.every((condition) => condition.evaluate(row))) verdicts[side].push(String(clock))
    }
  }
  if (conditions.mixed.length > 0) {
    const { columns, needs, derived } = mixedReads(conditions)
    const names = [
      'started_at',
      'id',
      ...[...columns].filter((name) => name !== 'started_at' && name !== 'id'),
      ...needs,
      ...derived,
    ]
    const rows = (await read(nonNativeCallsQuery(scope, conditions))).map(
      (values): MutableRow => Object.fromEntries(names.map((name, n) => [name, values[n] ?? ''])),
    )
    if ([...derived].some(isRefField)) await putBehind(rows, refs)
    for (const row of rows) {
      if (!conditions.mixed.every((condition) => condition.evaluate(row))) continue
      verdicts.calls.startedUs.push(Number(row.started_at))
      verdicts.calls.ids.push(String(row.id))
    }
  }
  return verdicts
}
