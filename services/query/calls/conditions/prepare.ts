// Prepares the conditions of a call query for parts of a scope: fewer calls first, odd documents, what stands behind refs.
import { fault } from '../../../core/http/errors.ts'
import { join, param, projectQuery, sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { feedbackRows } from '../../feedback/call-texts.ts'
import { jsonString } from '../../language/json-sql.ts'
import type { JsonField } from '../../language/types.ts'
import { everything, indexOf, type Scope } from '../access/scope.ts'
import { decodeKeys } from '../access/sorted-keys.ts'
import { compactRows } from '../header.ts'
import { lightKeysQuery } from '../page.ts'
import type { CallReader } from '../reader.ts'
import { type CallConditions, callConditions, conditionsOf, joined, light, readsPayloads } from './conditions.ts'
import { givenIds, holdsWithout } from './derived-fields.ts'
import { isFeedback, isRef } from './joins.ts'
import { anyOdd, findOdd } from './non-native-json.ts'
import { createRefTexts, type RefPlace, type RefTexts } from './refs-behind.ts'
import type { CompiledCondition, Document } from './types.ts'

/** A scope and the conditions on its calls; null = no call can match. */
export type Narrowed = { scope: Scope; conditions: CallConditions } | null

/** So few calls that meet the light conditions are looked up one by one: their neighbours' payloads stay unread. */
const fewKeys = 1_000
/** Calls with matching feedback are looked up by id if there are not more, out of not too much feedback. */
const fewGiven = 10_000
const fewFeedbackRows = 50_000
/** Distinct refs of one statement. */
const mostRefs = 50_000

export const givenQuery = (scope: Scope, joins: CallReader['query']['joins'], conditions: CompiledCondition[]): Query =>
  projectQuery(
    'calls.given',
    scope.projectId,
    (project) => sql`${givenIds(project, scope, joins, conditions)} LIMIT ${param('UInt64', fewGiven + 1)}`,
  )

/** Ids of the calls that feedback or queues leave for a query; null when they leave many or say nothing. */
async function givenCalls(reader: CallReader): Promise<string[] | null> {
  const { store, projectId, query, options } = reader
  const { given } = conditionsOf(query)
  const telling = given.filter((condition) => !holdsWithout(condition))
  const ofQueues = telling.filter(({ joins }) => joins.has('queues'))
  const conditions = ofQueues.length > 0 ? ofQueues : telling
  if (conditions.length === 0) return null
  const read = async <Row>(statement: Query) =>
    compactRows<Row>(await store.bytes(statement, 'JSONCompactEachRow', options))
  if (ofQueues.length === 0) {
    const names = new Set(conditions.flatMap(({ joins }) => [...joins].filter(isFeedback)))
    const fields = query.joins.feedback.filter(({ name }) => names.has(name))
    const count = projectQuery('calls.feedback-rows', projectId, (project) => feedbackRows(project, fields))
    const [rows] = await read<[string]>(count)
    if (Number(rows?.[0]) > fewFeedbackRows) return null
  }
  const scope = { projectId, range: everything, index: null, keys: null }
  const ids = await read<[string]>(givenQuery(scope, query.joins, conditions))
  return ids.length > fewGiven ? null : ids.map(([id]) => id)
}

/** Where a query looks for its calls; null = no call can match. */
export async function wayIn(reader: CallReader): Promise<Scope | null> {
  const { projectId, query } = reader
  const { facts } = query
  if (facts.nothing) return null
  const range = { fromUs: facts.startedFrom, beforeUs: facts.startedBefore }
  const index = indexOf(facts)
  const ids = index ? null : await givenCalls(reader)
  if (ids === null) return { projectId, range, index, keys: null }
  if (ids.length === 0) return null
  return { projectId, range, index: { column: 'id', values: ids }, keys: null }
}

const documentsOf = ({ document, over }: JsonField): Document[] =>
  (over ? [document, over.document] : [document]) as Document[]

/** The distinct refs at some places of the calls of a scope that meet conditions, each with the number of its place. */
export const refsQuery = (scope: Scope, conditions: CallConditions, places: readonly Pick<RefPlace, 'ref'>[]): Query =>
  projectQuery('calls.refs', scope.projectId, (project) => {
    const needs = new Set(places.flatMap(({ ref }) => documentsOf(ref)))
    const reads = { columns: new Set<never>(), needs, joins: new Set<never>() }
    const where = callConditions(project, scope, conditions)
    const found = join(
      places.map(({ ref }, n) => sql`(${param('UInt32', n)}, ${jsonString(ref, light)})`),
      ', ',
    )
    return sql`SELECT DISTINCT found.1, found.2 FROM
    (
      SELECT arrayJoin([${found}]) AS found FROM ${joined(project, scope, where, reads, conditions.virtual)} AS c
      WHERE startsWith(found.2, 'weave:///')
    ) LIMIT ${param('UInt64', mostRefs + 1)}`
  })

const readsRefs = ({ joins }: CompiledCondition): boolean => [...joins].some(isRef)

/** The conditions that can be met before refs are resolved. */
function withoutRefs(conditions: CallConditions, isOdd: boolean): CallConditions {
  // What SQL makes of odd documents does not count.
  if (isOdd) return { ...conditions, start: [], end: [], mixed: [] }
  return { ...conditions, mixed: conditions.mixed.filter((condition) => !readsRefs(condition)) }
}

/**
 * @param whole what the parts are parts of
 * @param sorts whether an order by virtual texts follows
 */
export async function preparing(
  reader: CallReader,
  whole: Scope,
  sorts = false,
): Promise<(scope: Scope) => Promise<Narrowed>> {
  const { store, projectId, query, options } = reader
  const conditions = { ...conditionsOf(query), words: reader.words ?? false }
  const sortRefs = sorts && [...query.sort.joins].some(isRef)
  if (!readsPayloads(conditions) && !sortRefs) return async (scope) => ({ scope, conditions })
  const hasOdd = await anyOdd(reader, whole)
  const refs = createRefTexts({ store, projectId, options }, query.joins.refs)

  return async (part) => {
    let scope = part
    if (conditions.light.length + conditions.given.length > 0) {
      const keyed = lightKeysQuery(part, conditions, fewKeys + 1)
      const keys = decodeKeys(await store.bytes(keyed, 'RowBinary', options)).next(fewKeys + 1)
      if (keys.length === 0) return null
      if (keys.length <= fewKeys) scope = { ...part, index: null, keys }
    }
    let known = conditions
    if (conditions.mixed.some(readsRefs) || sortRefs)
      known = await withRefs(reader, scope, known, withoutRefs(known, hasOdd), refs)
    if (!hasOdd) return { scope, conditions: known }
    return { scope, conditions: { ...known, odd: await findOdd(reader, scope, known, refs) } }
  }
}

/** Conditions that know what is behind the refs of the calls that meet others. */
async function withRefs(
  reader: CallReader,
  scope: Scope,
  conditions: CallConditions,
  others: CallConditions,
  texts: RefTexts,
): Promise<CallConditions> {
  const { store, options } = reader
  const answer = await store.bytes(refsQuery(scope, others, texts.places), 'JSONCompactEachRow', options)
  const rows = compactRows<[place: number, ref: string]>(answer)
  if (rows.length > mostRefs)
    throw fault(502, `The query reads more than ${mostRefs} refs at once: narrow it by operation or by time`)
  const found = new Map<RefPlace, string[]>(texts.places.map((place) => [place, []]))
  for (const [n, ref] of rows) found.get(texts.places[n] as RefPlace)?.push(ref)
  const behind = await texts.behind(found)
  return { ...conditions, virtual: { ...conditions.virtual, behind } }
}
