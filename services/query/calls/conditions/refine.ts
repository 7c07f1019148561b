// Refines the conditions of a call query for the candidates of an access path: fewer calls first, non-native JSON, what stands behind refs.

import { fault } from '../../../core/http/errors.ts'
import { join, param, sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { projectQuery } from '../../../events/project-query.ts'
import { readTuples } from '../../compact-rows.ts'
import { jsonString } from '../../language/json-sql.ts'
import type { JsonField } from '../../language/types.ts'
import { decodeKeys } from '../decode-keys.ts'
import { headerKeysQuery } from '../page.ts'
import type { CallReader } from '../reader.ts'
import { rangeOf, type Scope } from '../scope.ts'
import {
  type CallConditions,
  callConditions,
  conditionsOf,
  ofHeader,
  readsPayloads,
  withDocumentsAndDerived,
} from './conditions.ts'
import { isRefField } from './joins.ts'
import { anyNonNative, findNonNative } from './non-native-json.ts'
import { createRefTexts, type RefPlace, type RefTexts } from './refs-behind.ts'
import type { CompiledCondition, Document } from './types.ts'

/** A scope and the conditions on its calls, complete for one statement. */
export type Refined = { scope: Scope; conditions: CallConditions }

/** Narrows a scope to few calls where that is cheap, and completes its conditions; null = no call can match. */
export type Refine = (scope: Scope) => Promise<Refined | null>

/** So few calls that meet the conditions on columns are looked up one by one: their neighbours' payloads stay unread. */
const fewKeys = 1_000
/** Distinct refs of one statement. */
const maxRefs = 50_000

const documentsAtRef = ({ document, over }: JsonField): Document[] =>
  (over ? [document, over.document] : [document]) as Document[]

/** The distinct refs at some places of the calls of a scope that meet conditions, each with the number of its place. */
export const refsQuery = (scope: Scope, conditions: CallConditions, places: readonly Pick<RefPlace, 'ref'>[]): Query =>
  projectQuery('calls.refs', scope.projectId, (project) => {
    const needs = new Set(places.flatMap(({ ref }) => documentsAtRef(ref)))
    const reads = { columns: new Set<never>(), needs, derived: new Set<never>() }
    const where = callConditions(project, scope, conditions)
    const found = join(
      places.map(({ ref }, n) => sql`(${param('UInt32', n)}, ${jsonString(ref, ofHeader)})`),
      ', ',
    )
    return sql`SELECT DISTINCT found.1, found.2 FROM
    (
      SELECT arrayJoin([${found}]) AS found FROM ${withDocumentsAndDerived(project, scope, where, reads, conditions.derived)} AS c
      WHERE startsWith(found.2, 'weave:///')
    ) LIMIT ${param('UInt64', maxRefs + 1)}`
  })

const readsRefs = ({ derived }: CompiledCondition): boolean => [...derived].some(isRefField)

/** The conditions that can be met before refs are resolved. */
function withoutRefs(conditions: CallConditions, isNonNative: boolean): CallConditions {
  // The SQL result for documents with non-native JSON does not count.
  if (isNonNative) return { ...conditions, start: [], end: [], mixed: [] }
  return { ...conditions, mixed: conditions.mixed.filter((condition) => !readsRefs(condition)) }
}

/**
 * Refines the scopes of one query.
 * @param isSorted whether keys are read in an order that may read derived fields
 */
export function createRefine(reader: CallReader, isSorted: boolean): Refine {
  const { store, projectId, query, options } = reader
  const conditions = { ...conditionsOf(query), words: reader.words ?? false }
  const sortRefs = isSorted && [...query.sort.derived].some(isRefField)
  if (!readsPayloads(conditions) && !sortRefs) return async (scope) => ({ scope, conditions })
  const refs = createRefTexts({ store, projectId, options }, query.derivedFields.refs)
  let hasNonNative: boolean | null = null

  return async (candidates) => {
    hasNonNative ??= await anyNonNative(reader, { projectId, range: rangeOf(query.facts) })
    const scope = await fewer(reader, candidates, conditions)
    if (scope === null) return null
    let completed = conditions
    if (conditions.mixed.some(readsRefs) || sortRefs)
      completed = await withRefs(reader, scope, completed, withoutRefs(completed, hasNonNative), refs)
    if (!hasNonNative) return { scope, conditions: completed }
    return { scope, conditions: { ...completed, nonNative: await findNonNative(reader, scope, completed, refs) } }
  }
}

/** The scope as single keys if few calls meet the conditions that read no payload; null when none does. */
async function fewer(reader: CallReader, scope: Scope, conditions: CallConditions): Promise<Scope | null> {
  if (conditions.header.length + conditions.preFilters.length === 0) return scope
  const query = headerKeysQuery(scope, conditions, fewKeys + 1)
  const keys = decodeKeys(await reader.store.bytes(query, 'RowBinary', reader.options)).next(fewKeys + 1)
  if (keys.length === 0) return null
  return keys.length <= fewKeys ? { ...scope, index: null, keys } : scope
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
  const rows = await readTuples<[place: number, ref: string]>(store, refsQuery(scope, others, texts.places), options)
  if (rows.length > maxRefs)
    throw fault(502, `The query reads more than ${maxRefs} refs at once: narrow it by operation or by time`)
  const found = new Map<RefPlace, string[]>(texts.places.map((place) => [place, []]))
  for (const [n, ref] of rows) found.get(texts.places[n] as RefPlace)?.push(ref)
  const behind = await texts.behind(found)
  return { ...conditions, derived: { ...conditions.derived, behind } }
}
