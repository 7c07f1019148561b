// Columns of the list of calls: which are pinned, in the address and in views, and how wide they are, in the browser.
import { expect, it } from 'vitest'
import {
  columnName,
  columnsOffered,
  keptWidths,
  placedColumns,
  placesOfColumn,
  withWidth,
} from '../../services/web/page/calls/columns.ts'
import { columnsOfFile } from '../../services/web/page/calls/export-columns.ts'
import { fieldValues, sentValues } from '../../services/web/page/engine/call-values.ts'
import { callsSearch } from '../../services/web/page/engine/calls-search.ts'
import { sentNameOf } from '../../services/web/page/engine/completion.ts'
import { membersOfText } from '../../services/web/page/engine/json-texts.ts'
import { latencyBar, latencyScale } from '../../services/web/page/engine/latency-bars.ts'
import { kinds } from '../../services/web/page/views/kinds.ts'

it('only columns can be pinned, and to one side each', () => {
  expect(callsSearch({ cols: 'inputs.a,inputs.b', left: 'inputs.b,inputs.c', right: 'inputs.a,inputs.b' })).toEqual({
    cols: 'inputs.a,inputs.b',
    left: 'inputs.b',
    right: 'inputs.a',
  })
  expect(callsSearch({ cols: '-', left: '-', right: 'inputs' })).toEqual({ cols: '-' })
  expect(callsSearch({ left: 'output' })).toEqual({ left: 'output' })
})

it('pinned columns stand at the sides in the order of all columns, each as wide as it was made', () => {
  const widths = new Map([['b', 'wide'] as const, ['e', 'narrow'] as const])
  const placed = placedColumns(['a', 'b', 'c', 'd', 'e'], { left: 'd,b', right: 'e' }, widths, Math.round, 8)
  expect(placed).toMatchObject({ left: ['b', 'd'], between: ['a', 'c'], right: ['e'] })
  const { gridTemplateColumns, minWidth } = placed.style
  expect(gridTemplateColumns.split(/ (?![^(]*\))/)).toHaveLength(3 + 5 + 5)
  expect(gridTemplateColumns).toContain('minmax(16.5rem, 2.2fr) 32rem minmax(13rem, 1.6fr) 7rem')
  expect(gridTemplateColumns).toMatch(/ 8rem$/)
  const fixed = 24 + 18 + 165 + 70 + 108 + 80 + 84 + 76
  expect(minWidth).toBe(`max(100%, ${fixed + 130 * 3 + 320 + 80 + 12 * 12 + 24}px)`)
  const ofTraces = placedColumns(['a'], {}, widths, Math.round, 8, true)
  expect(ofTraces.style.gridTemplateColumns.split(/ (?![^(]*\))/)).toHaveLength(3 + 5 + 3 + 1)
})

it('a list of traces with its usual columns fits a window of 1440 pixels, with the day of each', () => {
  const started = (letters: number) => {
    const { style } = placedColumns(['inputs', 'output'], {}, new Map(), Math.round, letters, true)
    return [style.gridTemplateColumns.split(/ (?![^(]*\))/)[3], Number(/(\d+)px/.exec(style.minWidth)?.[1])]
  }
  const [time, day, year] = ['02:11:44', '23 Nov 02:11:44', '23 Sept 2025 02:11:44'].map(({ length }) =>
    started(length),
  )
  expect([time?.[0], day?.[0], year?.[0]]).toEqual(['7rem', '11.2rem', '14.6rem'])
  expect(day?.[1]).toBeLessThanOrEqual(1440 - 160)
})

it('bars of latencies are of one scale, and broken where they are longer', () => {
  const usual = Array.from({ length: 39 }, (_, n) => 100 + n)
  const scale = latencyScale([...usual, 43_800, null])
  expect(scale).toBe(138)
  expect(latencyBar(43_800, scale)).toEqual({ form: 'broken', share: 1 })
  expect(latencyBar(138, scale)).toEqual({ form: '', share: 1 })
  expect(latencyBar(69, scale)).toEqual({ form: '', share: 0.5 })
  expect(latencyBar(null, scale)).toEqual({ form: 'open', share: 1 })
  expect([latencyScale([]), latencyScale([null]), latencyScale([3, 7])]).toEqual([1, 1, 7])
})

it('widths are kept for the columns that were set last, and whatever else is stored is none', () => {
  let widths: ReturnType<typeof keptWidths> = new Map()
  for (let n = 0; n < 300; n++) widths = withWidth(widths, `inputs.${n}`, 'wide')
  expect(widths.size).toBe(200)
  expect(widths.has('inputs.99')).toBe(false)
  expect(withWidth(widths, 'inputs.299', 'usual').has('inputs.299')).toBe(false)
  expect(keptWidths(JSON.stringify([...widths]))).toEqual(widths)
  for (const stored of [null, '', '{', '{}', '[1,["a"],["a","__proto__"],[1,"wide"]]'])
    expect(keptWidths(stored).size).toBe(0)
})

it('a saved view keeps what is pinned, for the page and for other programs', () => {
  const { calls } = kinds
  const search = { cols: 'inputs.a,output', left: 'inputs.a' }
  expect(calls.kept({ ...search, by: 'op_name' })).toEqual(search)
  expect(calls.definition('a/b', search, () => 'UTC')).toMatchObject({ pin: { left: ['inputs.a'], right: [] } })
})

it('values of a call are those that a filter can name, by the paths that it would take', () => {
  const inputs = '{"n":1.0,"city":"Rome","deep":{"ok":true,"a.b":1,"k":-2.5},"list":[1],"null":null}'
  const found = fieldValues([
    ...membersOfText(inputs).map(([name, text]) => [`inputs.${name}`, text] as const),
    ...([
      ['inputs.x.y', '1'],
      ['inputs.a b', '1'],
      ['inputs.a,b', '1'],
      ['output', '"no"'],
      ['id', '"x"'],
    ] as const),
    ['attributes', '{"__proto__":{"x":3},"big":12345678901234567890}'],
    ['summary', `"${'x'.repeat(401)}"`],
  ])
  expect(Object.fromEntries(found.map(({ path, value }) => [path, value]))).toEqual({
    'inputs.city': 'Rome',
    'inputs.deep.ok': true,
    'inputs.deep.k': -2.5,
    output: 'no',
    'attributes.__proto__.x': 3,
  })
  const many = Array.from({ length: 500 }, (_, n) => [`inputs.k${n}`, `{"a":${n},"b":${n}}`] as const)
  expect(fieldValues(many)).toHaveLength(100)
  expect(fieldValues([['inputs.d', `${'{"d":'.repeat(500)}1${'}'.repeat(500)}`]])).toEqual([])
})

it('a value that lies in a call and in its span is listed once, and each row has a name of its own', () => {
  const ofSpan = (tenant: string) =>
    fieldValues([
      ['attributes', `{"metadata":{"tenant":"blue"},"otel_span":{"attributes":{"metadata":{"tenant":"${tenant}"}}}}`],
      ['inputs.k', '5'],
    ])
  const [name, path] = ['metadata.tenant', 'attributes.metadata.tenant']
  const other = { name: 'inputs.k', path: 'inputs.k', value: 5 }
  expect(sentValues(ofSpan('blue'))).toEqual([{ name, path, value: 'blue' }, other])
  const further = 'attributes.otel_span.attributes.metadata.tenant'
  expect(sentValues(ofSpan('red'))).toEqual([
    { name, path, value: 'blue' },
    { name: further, path: further, value: 'red' },
    other,
  ])
})

it('values of a call begin with its metadata, then what went in and out; what spans are made of comes last', () => {
  const span = '{"name":"x","attributes":{"metadata":{"tier":"gold"},"gen_ai":{"system":"y"}},"resource":{"a":1}}'
  const found = fieldValues([
    ['inputs', '{"q":"why"}'],
    ['output', '"so"'],
    ['attributes', `{"otel_span":${span},"metadata":{"tenant":"blue"},"env":"live"}`],
    ['summary', '{"usage":{"n":1}}'],
  ])
  expect(found.map(({ path }) => sentNameOf(path))).toEqual([
    ...['metadata.tier', 'metadata.tenant', 'inputs.q', 'output', 'gen_ai.system', 'attributes.env'],
    ...['attributes.otel_span.name', 'attributes.otel_span.resource.a', 'summary.usage.n'],
  ])
})

it('attributes of spans are columns under the names that were sent, each once, whether calls or spans have them', () => {
  const ofSpan = (name: string) => `attributes.otel_span.attributes.${name}`
  const sent = ['metadata.tenant', 'shard', 'Inputs', 'a,b'].map((name) => ({ path: ofSpan(name), calls: 3 }))
  const offered = columnsOffered({
    fields: [
      { path: 'inputs', calls: 9 },
      { path: 'attributes.metadata.tenant', calls: 7 },
      { path: 'feedback.[x].payload.a', calls: 1 },
      { path: 'attributes.shard', calls: 2 },
    ],
    span_attributes: { fields: sent },
  })
  expect(offered.filter(({ path }) => path.startsWith('attributes.') && path !== 'attributes.end_user')).toEqual([
    { path: 'attributes.metadata.tenant', calls: 7 },
    { path: 'attributes.shard', calls: 2 },
    // How many of all calls have them is not known.
    { path: ofSpan('shard'), calls: null },
    { path: ofSpan('Inputs'), calls: null },
  ])
  expect(offered.filter(({ path }) => path === 'inputs')).toEqual([{ path: 'inputs', calls: null }])
  const ofResource = 'attributes.otel_span.resource.attributes.service.name'
  expect([ofSpan('shard'), ofSpan('metadata.tenant'), 'attributes.shard', ofResource].map(columnName)).toEqual([
    'shard',
    'metadata.tenant',
    'attributes.shard',
    'resource.attributes.service.name',
  ])
  // The values of either place are shown.
  const both = ['attributes.metadata.tenant', ofSpan('metadata.tenant')]
  expect([both[0], both[1], ofSpan('shard'), 'inputs.k'].map((path) => placesOfColumn(path ?? ''))).toEqual([
    both,
    both.toReversed(),
    [ofSpan('shard')],
    ['inputs.k'],
  ])
})

it('a file of calls has the values of a column from either place', () => {
  const request = { project_id: 'a/b', filter: {}, sort_by: [] }
  const tenant = ['attributes.metadata.tenant', 'attributes.otel_span.attributes.metadata.tenant'] as const
  const columns = columnsOfFile(request, ['inputs', 'size', tenant[0], 'id', '-'])
  expect(columns.slice(-4)).toEqual(['exception', 'inputs', ...tenant])
  expect(columns.filter((path) => path === 'id')).toEqual(['id'])
})
