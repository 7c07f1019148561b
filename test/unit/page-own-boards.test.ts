// Dashboards of a project's own, as objects: what is saved is read again, and what the page does not know stays.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { byGroup } from '../../services/web/page/dashboards/figures.ts'
import { termsOf } from '../../services/web/page/dashboards/groups.ts'
import { histogramAsked, histogramSeries, rangesOf, rangeTerm } from '../../services/web/page/dashboards/histogram.ts'
import { measureNamed } from '../../services/web/page/dashboards/measures.ts'
import { boardOf, storedBoard } from '../../services/web/page/dashboards/own-boards.ts'
import {
  areManyToRead,
  boardIdOf,
  boards,
  fieldOfPanel,
  freeTitle,
  groupsOf,
  isOwnBoard,
  type Panel,
  templates,
} from '../../services/web/page/engine/boards.ts'
import { parsed, parsedList, parsedOf } from '../../services/web/page/engine/calls-search.ts'
import { chartOfList, countIn, filterOfRows } from '../../services/web/page/engine/dashboard-filters.ts'
import { feedbackSeries, type Given } from '../../services/web/page/engine/feedback-series.ts'
import { beginOf, binsOf, widthOf } from '../../services/web/page/engine/value-bins.ts'

const id = 'dashboard-ours'

it('every dashboard that is built in, and every template, can be saved as one of a project, and reads back as it was', () => {
  for (const { title, panels } of [...Object.values(boards), ...templates]) {
    const stored = JSON.parse(JSON.stringify(storedBoard({ id, title, panels, others: [] })))
    expect(stored).toMatchObject({ _class_name: 'CallhouseDashboard', label: title })
    const { panels: read, ...rest } = boardOf(id, stored)
    expect(rest).toEqual({ id, title, others: [] })
    expect(read).toMatchObject(panels)
    // There is no aggregate of feedback.
    for (const { measure, request } of stored.charts)
      expect(request === undefined ? [measure] : request.metrics).not.toHaveLength(0)
    expect(stored.charts.filter(({ request }: { request: unknown }) => request === undefined).length).toBeLessThan(3)
  }
})

it('charts of unknown kinds, measures and filters are not shown and stay in the object', () => {
  const others = [
    { title: 'a', type: 'pie', measure: 'calls' },
    { title: 'b', type: 'lines', measure: '__proto__' },
    { title: 'c', type: 'lines', measure: 'calls', filter: '(op:answer' },
    { title: 'd', type: 'constructor', measure: 'calls' },
    null,
    'text',
  ]
  const known = { title: 'e', type: 'bars', measure: 'avg output.score', group_by: ['inputs.language'], size: 12 }
  const board = boardOf(id, { label: 7, charts: [...others, known] })
  expect(board.title).toBe(id)
  expect(board.panels).toMatchObject([{ title: 'e', by: 'inputs.language', isWide: true }])
  const { charts } = storedBoard(board) as { charts: unknown[] }
  expect(charts.slice(1)).toEqual(others)
  for (const value of [null, undefined, 3, 'x', [], { charts: {} }]) expect(boardOf(id, value).panels).toEqual([])
})

it('a field is measured as it is asked to be, and nothing else is', () => {
  expect(measureNamed('p95 output.score')?.asked).toEqual([{ field: 'output.score', as: 'p95' }])
  for (const name of ['', 'avg', 'avg ', 'median output.score', 'toString', 'constructor x'])
    expect(measureNamed(name)).toBeUndefined()
})

it('any title makes an id that an address may have', () => {
  for (const title of ['Our errors', '…', '../..', '<b>', 'ü'.repeat(300), '-'])
    expect(isOwnBoard(boardIdOf(title))).toBe(true)
  expect(isOwnBoard('errors')).toBe(false)
})

it('groups within groups are kept, and named by both', () => {
  const panel = { title: 'a', type: 'lines' as const, measure: 'calls', by: 'op_name', by2: 'status' }
  const stored = storedBoard({ id, title: 'b', panels: [panel], others: [] }) as { charts: { request: object }[] }
  expect(stored.charts[0]).toMatchObject({
    group_by: ['op_name', 'status'],
    request: { group_by: ['op_name', 'status'] },
  })
  expect(boardOf(id, JSON.parse(JSON.stringify(stored))).panels).toMatchObject([panel])
  const group = (keys: string[]) => ({ keys, is_rest: false, series: {}, total: { 'calls.sum': 1 } })
  const answer = { buckets: [], groups: [group(['ask', 'error']), group(['ask', ''])] }
  expect(byGroup(answer, (of) => of('calls.sum') ?? null).map(({ name }) => name)).toEqual([
    'ask · error',
    'ask · unknown',
  ])
})

it('a name that programs send is grouped and measured at the first of its places with a value', () => {
  const tenant = 'either attributes.metadata.tenant or attributes.otel_span.attributes.metadata.tenant'
  const panel = { title: 'a', type: 'lines' as const, measure: 'avg metadata.score', by: 'metadata.tenant' }
  const bins = { title: 'b', type: 'histogram' as const, measure: 'count metadata.score' }
  const stored = storedBoard({ id, title: 'b', panels: [panel, bins], others: [] }) as { charts: object[] }
  const score = { field: tenant.replaceAll('tenant', 'score') }
  expect(stored.charts).toMatchObject([
    { group_by: ['metadata.tenant'], request: { group_by: [tenant], metrics: [{ ...score, as: 'avg' }] } },
    { request: { metrics: [score, score, score] } },
  ])
  expect(boardOf(id, JSON.parse(JSON.stringify(stored))).panels).toMatchObject([panel, bins])
  // Charts of before have one of the places.
  const earlier = { charts: [{ ...panel, group_by: ['attributes.otel_span.attributes.metadata.tenant'] }] }
  expect(boardOf(id, earlier).panels).toMatchObject([panel])
  expect(groupsOf({ by: 'end_user', by2: 'inputs.city' })).toEqual(['attributes.end_user', 'inputs.city'])
  expect(termsOf(['metadata.tenant', 'end_user'], ['acme', 'noor'])).toBe('metadata.tenant:acme end_user:noor')
  expect(termsOf(['metadata.a b'], ['x'])).toBeUndefined()
})

it('end users, whom programs name, and owners of keys are told apart', () => {
  const panels: readonly Panel[] = Object.values(boards).flatMap((board) => [...board.panels])
  const titlesBy = (asked: string) => panels.filter(({ by }) => by === asked).map(({ title }) => title)
  expect(titlesBy('end_user')).toEqual(['Top end users by traces', 'Top end users by cost'])
  expect(titlesBy('user')).toEqual(['Top key owners by calls', 'Cost by key owner', 'Top key owners by cost'])
  // A field is looked for before panels group by it.
  expect([...new Set(panels.map(fieldOfPanel))]).toEqual([undefined, 'end_user'])
  expect(termsOf(['end_user'], ['noor rahman'])).toBe('end_user:"noor rahman"')
  expect([areManyToRead(1_000_000), areManyToRead(1_000_001)]).toEqual([false, true])
})

it('the calls of a group are found by a filter that names each of its keys, where a filter can', () => {
  const op = 'weave:///acme/x/op/ask:1'
  expect(termsOf(['op_name', 'status'], [op, 'error'])).toBe('op:ask status:error')
  expect(termsOf(['inputs.city', 'user'], ['Rome OR (x', ''])).toBe('inputs.city:"Rome OR (x"')
  expect(termsOf(['thread_id'], ['7'])).toBe('thread:"7"')
  expect(termsOf(['op_name', 'model'], ['ask', 'gpt-4o'])).toBe('op:ask model:gpt-4o')
  // A name with a space is no field of the line.
  expect(termsOf(['inputs.a b'], ['x'])).toBeUndefined()
  expect(termsOf(['__proto__'], ['x'])).toBeUndefined()
})

it('a histogram is of a field, and what feedback says is drawn over time', () => {
  const known = [
    { title: 'a', type: 'histogram', measure: 'count output.score' },
    { title: 'b', type: 'lines', measure: 'scores' },
    { title: 'c', type: 'stack', measure: 'reactions' },
  ]
  const others = [{ title: 'd', type: 'histogram', measure: 'calls' }]
  const board = boardOf(id, { charts: [...known, ...others] })
  expect(board.panels).toMatchObject(known)
  const { charts } = storedBoard(board) as { charts: object[] }
  expect(charts[0]).toMatchObject({ request: { metrics: [{ field: 'output.score', as: 'min' }, {}, {}] } })
  expect(charts[1]).not.toHaveProperty('request')
  expect(charts[3]).toEqual(others[0])
})

it('ranges are round, few, and hold the least and the greatest value', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
      fc.double({ noNaN: true, min: 1e-9, max: 1e9 }),
      (min, span) => {
        const max = min + span
        const width = widthOf(min, max)
        const bins = binsOf(min, max, width)
        expect(bins.length).toBeLessThanOrEqual(42)
        expect(beginOf(bins[0] as number, width)).toBeLessThanOrEqual(min + width * 1e-6)
        expect(beginOf((bins.at(-1) as number) + 1, width)).toBeGreaterThan(max - width * 1e-6)
      },
    ),
  )
  expect(widthOf(0, 1)).toBe(0.05)
  expect(binsOf(0.5, 0.5, widthOf(0.5, 0.5))).toEqual([0])
  const total = { 'output.score.min': -0.1, 'output.score.max': 0.3 }
  const ranges = rangesOf('output.score', { buckets: [], groups: [{ keys: [], is_rest: false, series: {}, total }] })
  if (!ranges) throw new Error('no ranges')
  expect(ranges.width).toBe(0.01)
  expect(histogramAsked('output.score', ranges).group_by).toEqual(['range 0.01 output.score'])
  expect(rangeTerm('output.score', ranges, 1, 0)).toBe('output.score>=-0.1 output.score<-0.08')
  const groups = [{ keys: ['-10'], is_rest: false, series: {}, total: { 'calls.sum': 3 } }]
  expect(histogramSeries(ranges, { buckets: [], groups }, 'calls')[0]?.values.slice(0, 2)).toEqual([3, 0])
})

it('feedback is counted by sign, and scores and annotations are averaged, in the bucket in which they were given', () => {
  const buckets = ['2026-01-05T12:00:00Z', '2026-01-05T13:00:00Z']
  const given = (feedback_type: string, minute: number, payload: Partial<Given>): Given => ({
    feedback_type,
    created_at: new Date(Date.parse('2026-01-05T12:00:00Z') + minute * 60_000).toISOString(),
    emoji: '',
    value: '',
    output: '',
    ...payload,
  })
  const { reactions, scores } = feedbackSeries(
    [
      given('wandb.reaction.1', 0, { emoji: '👍' }),
      given('wandb.reaction.1', 61, { emoji: '👍' }),
      given('callhouse.reaction.1', 61, { emoji: '👎' }),
      given('wandb.annotation.good', 1, { value: 'true' }),
      given('wandb.annotation.good', 2, { value: 'false' }),
      given('wandb.annotation.word', 2, { value: 'fine' }),
      given('wandb.runnable.judge', 70, { output: '{"score":0.25,"why":"x","__proto__":1}' }),
      given('wandb.runnable.judge', 70, { output: '{"score"' }),
      given('wandb.note.1', 3, {}),
      given('wandb.annotation.good', -5, { value: '1' }),
    ],
    buckets,
  )
  expect(reactions).toEqual([
    { name: '👍', items: 2, values: [1, 1] },
    { name: '👎', items: 1, values: [0, 1] },
  ])
  expect(scores.map(({ name, values }) => [name, values])).toEqual([
    ['good', [0.5, null]],
    ['judge.__proto__', [null, 1]],
    ['judge.score', [null, 0.25]],
  ])
})

it('a template is made under a name that is free', () => {
  const taken = ['Users', 'Users 2'].map((title) => ({ title, id: boardIdOf(title) }))
  expect(freeTitle('Users', taken)).toBe('Users 3')
  expect(freeTitle('Cost', taken)).toBe('Cost')
  // Another title of the same id.
  expect(freeTitle('Our/errors', [{ title: 'Our errors', id: boardIdOf('Our errors') }])).toBe('Our/errors 2')
})

it('a list becomes a chart of the calls that it shows, in its range', () => {
  expect(chartOfList({})).toEqual({ add: '1', range: 'all', q: 'is:root' })
  expect(chartOfList({ view: 'all', range: '7d' })).toEqual({ add: '1', range: '7d' })
  expect(chartOfList({ q: 'op:a OR op:b', range: '7d' })).toMatchObject({ q: '(op:a OR op:b) is:root' })
  expect(chartOfList({ q: 'op:a', view: 'all' })).toMatchObject({ q: 'op:a' })
  // Names of calls make a list of calls, whatever the view.
  expect(chartOfList({ q: 'trace:x' })).toMatchObject({ q: 'trace:x' })
})

it('a chart counts calls or whole traces, which its filter and its request both say', () => {
  expect(filterOfRows('', 'traces')).toBe('is:root')
  expect(filterOfRows('errors>0 OR op:a', 'traces')).toBe('(errors>0 OR op:a) is:root')
  expect(filterOfRows('is:root op:a', 'traces')).toBe('op:a is:root')
  expect(filterOfRows('op:a', 'calls')).toBe('op:a')
  for (const filter of ['', 'op:a', '-op:a latency>2s']) {
    expect(countIn(filter)).toEqual({ rows: 'calls', filter })
    expect(countIn(filterOfRows(filter, 'traces'))).toEqual({ rows: 'traces', filter })
  }
  // Alternatives of which one asks for roots find calls.
  expect(countIn('is:root OR op:a').rows).toBe('calls')
  const charts = ['op:a', 'errors>0 is:root'].flatMap((filter) =>
    (['lines', 'heat', 'number'] as const).map((type) => ({ title: type, type, measure: 'errors', filter })),
  )
  const stored = storedBoard({ id, title: 'a', panels: charts, others: [] }) as { charts: { request: object }[] }
  expect(stored.charts.map(({ request }) => 'count' in request)).toEqual([false, false, false, true, true, true])
  expect(boardOf(id, JSON.parse(JSON.stringify(stored))).panels).toMatchObject(charts)
  expect(measureNamed('errors', 'calls')?.label).toBe('Errors')
  expect(measureNamed('errors', 'traces')?.lines.map(([name]) => name)).toEqual(['with errors'])
  for (const name of ['calls', 'errors', 'latency', 'tokens', 'cost'])
    expect(measureNamed(name, 'traces')?.asked).toEqual(measureNamed(name, 'calls')?.asked)
})

it('advice names the choice that its place has', () => {
  const said = (one: { fault: { message: string } | undefined }) => one.fault?.message
  const field = 'errors is a field of traces'
  expect(said(parsedOf('errors>0', 'calls'))).toBe(`${field}: choose Traces`)
  expect(said(parsedOf('errors>0', 'traces'))).toBeUndefined()
  expect(said(parsedList({ q: 'errors>0', view: 'all' }))).toBe(`${field}: choose Traces`)
  expect(said(parsedList({ q: 'trace:a errors>0' }))).toBe(`${field}: a filter by id, trace or parent is of calls`)
  expect(said(parsed('errors>0'))).toBe(`${field}: add is:root to count traces`)
  expect(said(parsed('errors>0 is:root'))).toBeUndefined()
})
