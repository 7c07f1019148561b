// POST /calls/fields and /calls/values: which fields the latest calls have, and the commonest values of some of them.

import type { z } from 'zod'
import {
  callsFieldsRequest,
  callsFieldsResponse,
  callsValuesRequest,
  callsValuesResponse,
} from '../../../schemas/call-values.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { invalid } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Query } from '../../core/store/store.ts'
import { readTuples } from '../compact-rows.ts'
import type { Column, Fields } from '../language/types.ts'
import { fieldPath } from './access/field-index-tests.ts'
import { compileCallsQuery } from './conditions/compile-query.ts'
import { callFields, isDocument } from './conditions/fields.ts'
import { callQueryTables, joinedTables, topicsOfQuery, traceTables } from './conditions/joined-tables.ts'
import { pricesFor } from './model-prices.ts'
import type { QueryStatsDeps } from './query-stats.ts'
import type { CallReader } from './reader.ts'
import { readIndexedSample, readSample, type Sample } from './sample.ts'
import { readSpanAttributes, type SpanValue, spanAttributePath, spanAttributes } from './span-attributes.ts'
import { columnValuesQuery, feedbackFieldsQuery, fieldsQuery, indexedValuesQuery } from './value-queries.ts'

/** Distinct members of payloads of feedback that are looked at. */
const maxFeedbackFields = 1_000
const latestFirst = [{ field: 'started_at', direction: 'desc' }] as const
const typeOf: Readonly<Record<string, 'string' | 'number' | 'bool'>> = {
  number: 'number',
  numeral: 'number',
  text: 'string',
  long: 'string',
  bool: 'bool',
  String: 'string',
  Bool: 'bool',
  Int64: 'number',
  UInt64: 'number',
  Double: 'number',
}

type Field = { path: string; types: { string?: number; number?: number; bool?: number }; calls: number }
type Values = { values: { value: string | number; calls: number }[]; is_complete: boolean }

function timesQuery(bounds: Record<'start' | 'end', string | number | undefined>) {
  const conditions = (['start', 'end'] as const).flatMap((name) => {
    const value = bounds[name]
    if (value === undefined) return []
    const us = parseTimestamp(value)
    if (us === null)
      throw invalid({ loc: ['body', name], msg: 'Input should be a valid datetime', type: 'datetime_type' })
    const literal = { $literal: us / 1e6 }
    return [{ [name === 'start' ? '$gte' : '$lt']: [{ $getField: 'started_at' }, literal] }]
  })
  return conditions.length === 0 ? null : { $expr: { $and: conditions } }
}

const add = (types: Field['types'], form: string, calls: number): void => {
  const type = typeOf[form]
  if (type) types[type] = (types[type] ?? 0) + calls
}

function feedbackFields(rows: readonly [type: string, key: string, form: string, calls: number][]): Field[] {
  const found = new Map<string, Field>()
  for (const [type, key, form, calls] of rows) {
    const path = `feedback.[${type}].payload.${key.replaceAll('.', '\\.')}`
    const field = found.get(path) ?? { path, types: {}, calls: 0 }
    add(field.types, form, calls)
    field.calls += calls
    found.set(path, field)
  }
  return [...found.values()]
}

/** Whether paths that begin so may lie below another one. */
const mayLieBelow = (path: string, prefix: string): boolean => path.startsWith(prefix) || prefix.startsWith(path)

/** Fields of spans whose paths begin so, the commonest first. */
function spanFields(spans: readonly (readonly SpanValue[])[], prefix: string, limit: number): Field[] {
  const found = new Map<string, Field>()
  for (const { path, form } of spans.flat()) {
    if (!path.startsWith(prefix)) continue
    const field = found.get(path) ?? { path, types: {}, calls: 0 }
    add(field.types, form, 1)
    field.calls++
    found.set(path, field)
  }
  return [...found.values()].sort((a, b) => b.calls - a.calls).slice(0, limit)
}

/** Places of the values of fields by name: columns, paths of the field index, and attributes of spans. */
type Places = { columns: Map<string, Column>; paths: Map<string, string>; ofSpans: Map<string, string> }

function placesOf(names: readonly string[], fields: Fields): Places {
  const places: Places = { columns: new Map(), paths: new Map(), ofSpans: new Map() }
  for (const name of names) {
    const field = fields(name)
    if (field.is === 'column') places.columns.set(name, field.column)
    if (field.is !== 'json' || !isDocument(field.json.document)) continue
    const place = fieldPath(field.json)
    if (place) places.paths.set(name, place.path)
    const ofSpan = spanAttributePath(field.json)
    if (ofSpan) places.ofSpans.set(name, ofSpan)
  }
  return places
}

type ColumnRow = [place: number, value: string, calls: number]
type IndexedRow = [path: string, form: string, value: string, calls: number]
const withoutValue = new Set(['long', 'opaque', 'hollow'])

/** Rows of the values of some attributes of spans, as those of the field index. */
function spanRows(spans: readonly (readonly SpanValue[])[], { ofSpans }: Places, prefix: string): IndexedRow[] {
  const asked = new Set(ofSpans.values())
  const low = prefix.toLowerCase()
  const found = new Map<string, IndexedRow>()
  for (const { path, form, text } of spans.flat()) {
    if (!asked.has(path) || !text.toLowerCase().startsWith(low)) continue
    const key = JSON.stringify([path, form, text])
    const row = found.get(key) ?? [path, form, text, 0]
    row[3]++
    found.set(key, row)
  }
  return [...found.values()].sort((a, b) => b[3] - a[3])
}

function* valuesFound(
  { columns, paths, ofSpans }: Places,
  ofColumns: readonly ColumnRow[],
  ofPaths: readonly IndexedRow[],
): Generator<[name: string, values: Values]> {
  for (const [place, name] of [...columns.keys()].entries()) {
    const rows = ofColumns.filter(([at]) => at === place)
    yield [name, { values: rows.map(([, value, calls]) => ({ value, calls })), is_complete: true }]
  }
  for (const [name, path] of [...paths, ...ofSpans]) {
    const rows = ofPaths.filter(([at]) => at === path)
    const withValues = rows.filter(([, form]) => !withoutValue.has(form))
    yield [
      name,
      {
        values: withValues.map(([, form, text, calls]) => ({ value: form === 'number' ? Number(text) : text, calls })),
        // Few of the calls are looked at for the attributes of spans.
        is_complete: withValues.length === rows.length && !ofSpans.has(name),
      },
    ]
  }
}

const cut = ({ values, is_complete }: Values, limit: number): Values => ({
  values: values.slice(0, limit),
  is_complete: is_complete && values.length <= limit,
})

const rowsOf = <Row>({ store, options }: CallReader, query: Query) => readTuples<Row>(store, query, options)

async function fieldsOfSample(
  reader: CallReader,
  sample: Sample,
  { prefix, limit, span_attributes: withSpans }: z.output<typeof callsFieldsRequest>,
): Promise<z.input<typeof callsFieldsResponse>> {
  const sampled_calls = sample.calls.length
  const { projectId } = reader
  const [indexed, given, spans] = await Promise.all([
    sampled_calls > 0
      ? rowsOf<[string, [string, number][], number]>(
          reader,
          fieldsQuery(projectId, await readIndexedSample(reader, sample), prefix, limit),
        )
      : [],
    sampled_calls > 0 && mayLieBelow('feedback.', prefix)
      ? rowsOf<[string, string, string, number]>(reader, feedbackFieldsQuery(projectId, sample, maxFeedbackFields))
      : [],
    withSpans && spanAttributes.some((path) => mayLieBelow(path, prefix)) ? readSpanAttributes(reader, sample) : [],
  ])
  const fields = indexed.map(([path, forms, calls]): Field => {
    const types: Field['types'] = {}
    for (const [form, count] of forms) add(types, form, count)
    return { path, types, calls }
  })
  const ofFeedback = feedbackFields(given).filter(({ path }) => path.startsWith(prefix))
  const all = [...fields, ...ofFeedback].sort((a, b) => b.calls - a.calls).slice(0, limit)
  const ofSpans = { fields: spanFields(spans, prefix, limit), sampled_calls: spans.length }
  return { fields: all, sampled_calls, ...(withSpans && { span_attributes: ofSpans }) }
}

export function createValueRoutes(deps: QueryStatsDeps): Route[] {
  const { store, freshness, feedbackPrefix, words, cache, wholeTraces } = deps

  return [
    route({
      name: 'calls.fields',
      method: 'POST',
      path: '/calls/fields',
      summary: 'Fields of the latest calls, by how many have them',
      body: { type: 'json', schema: callsFieldsRequest, check: 'schema' },
      response: callsFieldsResponse,
      tables: [
        'calls',
        'payloads',
        'payload_leaves',
        'call_marks',
        'rollups',
        'call_counts_hourly',
        'feedback',
        'feedback_by_ref',
      ],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const query = compileCallsQuery({
          query: timesQuery({ start: input.start, end: input.end }),
          sort_by: latestFirst,
          projectId,
          feedbackPrefix,
        })
        const headers = await freshness.wait(context, ['calls', 'feedback'])
        const reader = { store, projectId, query, options: { signal }, cache }
        const sample = await readSample(reader)
        return { json: await fieldsOfSample(reader, sample, input), headers }
      },
    }),
    route({
      name: 'calls.values',
      countsAll: true,
      method: 'POST',
      path: '/calls/values',
      summary: 'The most common values of some fields of the latest matching calls',
      body: { type: 'json', schema: callsValuesRequest, check: 'schema' },
      response: callsValuesResponse,
      tables: [...callQueryTables, ...joinedTables, ...traceTables],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const places = placesOf(input.fields, callFields())
        const { filter, query: expression, prefix, limit } = input
        const prices = await pricesFor(deps, projectId, context)
        const compiled = compileCallsQuery({
          filter,
          query: expression,
          sort_by: latestFirst,
          projectId,
          feedbackPrefix,
          prices,
          wholeTraces: true,
        })
        const headers = await freshness.wait(context, topicsOfQuery(compiled))
        const query = await wholeTraces(compiled, { projectId, options: { signal } })
        const reader = { store, projectId, query, options: { signal }, cache, words }
        const sample = await readSample(reader)
        // One more than is shown tells whether there are others; texts that are too long have one row without a value.
        const ask = { prefix, limit: limit + 4 }
        const columns = [...places.columns.values()]
        const paths = [...new Set(places.paths.values())]
        const [ofColumns, ofPaths, spans] = await Promise.all([
          columns.length > 0 && sample.calls.length > 0
            ? rowsOf<ColumnRow>(reader, columnValuesQuery(projectId, sample, { ...ask, columns }))
            : [],
          paths.length > 0 && sample.calls.length > 0
            ? rowsOf<IndexedRow>(
                reader,
                indexedValuesQuery(projectId, await readIndexedSample(reader, sample), { ...ask, paths }),
              )
            : [],
          places.ofSpans.size > 0 ? readSpanAttributes(reader, sample) : [],
        ])
        const ofSpans = spanRows(spans, places, prefix)
        const found = new Map(input.fields.map((name) => [name, { values: [], is_complete: false } as Values]))
        for (const [name, values] of valuesFound(places, ofColumns, [...ofPaths, ...ofSpans]))
          found.set(name, cut(values, limit))
        return { json: { fields: Object.fromEntries(found), sampled_calls: sample.calls.length }, headers }
      },
    }),
  ]
}
