// The SQL of reads by the field index as checked-in text, and which conditions go by it.
import { describe, expect, it } from 'vitest'
import { parseProjectId } from '../../services/core/ids.ts'
import { sql } from '../../services/core/store/sql.ts'
import type { Query } from '../../services/core/store/store.ts'
import {
  callsWithinQuery,
  candidatesQuery,
  dirtyCallsQuery,
  dirtyMinutesQuery,
  endsNotIndexed,
  endsQuery,
  endsThatMatch,
  firstValuesQuery,
  sampleQuery,
  tiedAtQuery,
  tiedQuery,
  withoutOrderQuery,
} from '../../services/query/calls/access/field-index-queries.ts'
import { type FieldTests, fieldTests } from '../../services/query/calls/access/field-index-tests.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const project = parseProjectId('e/p')
const field = (name: string) => ({ $getField: name })
const compare = (op: string, name: string, value: unknown) => ({ [op]: [field(name), { $literal: value }] })
const testsOf = ($expr: object): (FieldTests | null)[] =>
  compileCallsQuery({ projectId: 'e/p', query: { $expr } }).payload.map(fieldTests)
const known = (...list: object[]) => testsOf({ $and: list }).filter((tests) => tests !== null)

const range = { fromUs: 1_000_000, beforeUs: 9_000_000 }
const open = { fromUs: null, beforeUs: null }
const parts = sql`part = 'both'`
const place = { path: 'output.score', around: ['output'] }
const queries: Record<string, Query> = {
  'one condition': candidatesQuery(project, known(compare('$eq', 'inputs.a\\.b.c', 'x')), {
    side: 'start',
    range,
    direction: 'desc',
    limit: 100,
  }),
  'two conditions on ends': candidatesQuery(
    project,
    known(compare('$eq', 'output.label', 'bad'), compare('$gt', 'output.score', 0.5)),
    { side: 'end', range: open, direction: 'asc', limit: 100 },
  ),
  'ends that came alone':
    endsQuery(
      project,
      [endsThatMatch(known({ $in: [field('output.n'), [{ $literal: 5 }]] })), endsNotIndexed(project, [60])],
      9,
    ) ?? expect.unreachable(),
  'calls that are not indexed yet': dirtyCallsQuery(
    project,
    [
      { minute: 60, seconds: '5' },
      { minute: 120, seconds: '0' },
    ],
    9,
  ),
  'number of calls that are not indexed yet': callsWithinQuery(project, [{ fromUs: 60, beforeUs: 90 }]),
  'minutes that it lags by': dirtyMinutesQuery(project, sql`position > 7`, 9),
  'sample of values': sampleQuery(project, place.path, { direction: 'desc', kind: 'number', parts, range, most: 9 }),
  'first values': firstValuesQuery(project, place.path, {
    direction: 'desc',
    kind: 'number',
    parts,
    range,
    most: 9,
    upTo: null,
  }),
  'first values up to one': firstValuesQuery(project, place.path, {
    direction: 'asc',
    kind: 'text',
    parts,
    range,
    most: 9,
    upTo: { value: 'x', with: 'all' },
  }),
  'values before one, and ends with it': firstValuesQuery(project, place.path, {
    direction: 'desc',
    kind: 'text',
    parts,
    range,
    most: 9,
    upTo: { value: 'x', with: 'ends' },
  }),
  'first of some calls': tiedAtQuery(project, [1_000_000, 2_000_000], { direction: 'asc', limit: 9 }),
  'first of one value': tiedQuery(project, place.path, {
    kind: 'text',
    value: 'x',
    parts,
    range: open,
    order: 'asc',
    direction: 'desc',
    limit: 9,
  }),
  'values of no order': withoutOrderQuery(project, place, { parts, range }, 9),
}

it('the SQL of the field index is as checked in', () => expectReviewed('./field-index.sql', queries))

describe('conditions of a call query', () => {
  it('go by the field index when they name one field and need its value', () => {
    for (const one of [
      compare('$eq', 'inputs.a', 5),
      { $or: [compare('$eq', 'inputs.a', 5), compare('$gt', 'inputs.b', 1)] },
      { $not: [compare('$gt', 'inputs.a', 5)] },
      { $contains: { input: field('inputs.a'), substr: { $literal: 'x' } } },
    ])
      expect(testsOf(one)).toEqual([expect.any(Array)])
  })

  it('are left to payloads when they hold without a value, or read two', () => {
    for (const one of [
      compare('$eq', 'inputs.a', ''),
      { $eq: [field('inputs.a'), field('inputs.b')] },
      { $or: [compare('$eq', 'inputs.a', 5), compare('$eq', 'inputs.b', '')] },
      compare('$eq', 'attributes.otel_span.name', 'x'),
      { $or: [compare('$eq', 'inputs.a', 5), compare('$eq', 'id', 'x')] },
    ])
      expect(testsOf(one)).toEqual([null])
  })
})
