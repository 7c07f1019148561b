// Tables in the page: JSON that keeps its spelling, CSV without formulas, changes that become updates.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvHead } from '../../services/query/calls/export/csv.ts'
import { rowsIn } from '../../services/web/page/datasets/search.ts'
import { callCells, isWhole, rowName } from '../../services/web/page/engine/call-cells.ts'
import { csvLine, csvRow } from '../../services/web/page/engine/csv.ts'
import {
  itemsOfText,
  jsonFault,
  membersOfText,
  objectText,
  plainText,
  prettyJson,
  withMember,
} from '../../services/web/page/engine/json-texts.ts'
import { membersWithColumns, namesWithColumns } from '../../services/web/page/engine/table-columns.ts'
import {
  batchesOf,
  begun,
  columnNames,
  done,
  editCount,
  editsOf,
  keptText,
  noEdits,
  redone,
  undone,
  updatesOf,
  withAdded,
  withChanged,
  withColumnChanges,
  withToggled,
} from '../../services/web/page/engine/table-edits.ts'
import { runs } from '../fixtures/runs.ts'

const numRuns = runs(200, 5_000)

describe('JSON as texts', () => {
  it('members and items keep their spelling, and a member is replaced without touching the others', () => {
    const text = ' { "a" : 1.0, "b\\u0022":[ 12345678901234567890 , {"c":-0} ],"a":2.50 }'
    expect(membersOfText(text)).toEqual([
      ['a', '2.50'],
      ['b"', '[ 12345678901234567890 , {"c":-0} ]'],
    ])
    expect(itemsOfText('[1.0,"x", {"k":1e2}]')).toEqual(['1.0', '"x"', '{"k":1e2}'])
    expect(withMember('{"n":1.0,"rows":"old"}', 'rows', '"new"')).toBe('{"n":1.0,"rows":"new"}')
    expect(withMember('{"n":1.0}', 'rows', '"new"')).toBe('{"n":1.0,"rows":"new"}')
    expect(membersOfText('[1]')).toEqual([])
    expect([plainText('"a\\nb"'), plainText('1.0'), jsonFault('{"a":1}'), typeof jsonFault('{a')]).toEqual([
      'a\nb',
      '1.0',
      undefined,
      'string',
    ])
  })

  it('lines of JSON hold the same, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(prettyJson(text)).toBe(JSON.stringify(value, null, 2))
        expect(prettyJson(prettyJson(text))).toBe(prettyJson(text))
      }),
      { numRuns },
    )
    expect(prettyJson('{"a":1.0,"b":[1e2,-0]}')).toBe('{\n  "a": 1.0,\n  "b": [\n    1e2,\n    -0\n  ]\n}')
  })

  it('an object of any names and values is put together as it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object)
        expect(JSON.parse(objectText(membersOfText(text)))).toEqual(JSON.parse(text))
      }),
      { numRuns },
    )
  })
})

describe('CSV', () => {
  it('quotes what needs it, and makes a formula of no text', () => {
    expect(csvLine(['a', '=b', 'c,d', 'e"f', 'g\nh'])).toBe('a,\'=b,"c,d","e""f","g\nh"\r\n')
    const members = membersOfText('{"n":-1.50,"t":"-1","f":"@x","nil":null,"o":{"k":1},"s":"\\tx"}')
    expect(csvRow(['n', 't', 'f', 'nil', 'none', 'o', 's'], members)).toBe('-1.50,\'-1,\'@x,,,"{""k"":1}",\'\tx\r\n')
  })
})

describe('no text becomes a formula, in files of the page and in those of the server', () => {
  it.each([
    ['=1', "'=1"],
    ['-1', "'-1"],
    ['  =1', "  '=1"],
    ['\u00a0\u200b@x', "\u00a0\u200b'@x"],
    ['\n=1', '"\'\n\'=1"'],
    ['\n plain', '"\'\n plain"'],
    ['\r+1', '"\'\r\'+1"'],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['﹦1', "'﹦1"],
    ['−1', "'−1"],
    // Cells of another country.
    ['a;=1', '"a;\'=1"'],
    ['a; ＠x;-2', '"a; \'＠x;\'-2"'],
    ['a\t=1', "a\t'=1"],
    ['a\n=1', '"a\n\'=1"'],
    ['a\n-1', '"a\n\'-1"'],
    // Other ends of lines.
    ['a\v=1', "a\v'=1"],
    ['a\f@x', "a\f'@x"],
    ['a\u0085=1', "a\u0085'=1"],
    ['a\u2028=1', "a\u2028'=1"],
    ['\u2029x', "'\u2029x"],
    // Text that is no list stays.
    ['a\n- one\n  - two', '"a\n- one\n  - two"'],
    ['a=b-c+d@e', 'a=b-c+d@e'],
    ['', ''],
  ])('%j', (text, cell) => {
    expect(csvLine([text])).toBe(`${cell}\r\n`)
    expect(csvHead({ names: [text], paths: [] })).toBe(`${cell}\r\n`)
  })
})

describe('changes of a table', () => {
  const cells = (n: number) => [['n', String(n)]] as const

  it('become updates from the last row to the first, added ones at the end', () => {
    let edits = withChanged(noEdits, 5, 1, cells(10))
    edits = withChanged(edits, 5, 3, cells(30))
    edits = withToggled(withToggled(edits, 5, 3), 5, 4)
    edits = withAdded(edits, [cells(50), cells(60)])
    edits = withChanged(edits, 5, 6, cells(61))
    expect(updatesOf(edits)).toEqual([
      '{"pop":{"index":4}}',
      '{"pop":{"index":3}}',
      '{"pop":{"index":1}}',
      '{"insert":{"index":1,"row":{"n":10}}}',
      '{"append":{"row":{"n":50}}}',
      '{"append":{"row":{"n":61}}}',
    ])
    expect(editCount(edits)).toBe(5)
    expect(editCount(withToggled(edits, 5, 3))).toBe(5)
    expect(withToggled(edits, 5, 5).added).toEqual([cells(61)])
    expect(editsOf(keptText(edits))).toEqual(edits)
    expect([editsOf(null), editsOf('{'), editsOf('{}')]).toEqual([noEdits, noEdits, noEdits])
  })

  it('are the same as changing the list itself', () => {
    const step = fc.record({ place: fc.nat(9), what: fc.constantFrom('change', 'remove', 'add'), value: fc.nat(99) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const edits = steps.reduce((before, { place, what, value }) => {
          if (what === 'add') return withAdded(before, [cells(value)])
          return what === 'change' ? withChanged(before, 10, place, cells(value)) : withToggled(before, 10, place)
        }, noEdits)
        const list = Array.from({ length: 10 }, (_, n) => -n)
        for (const text of updatesOf(edits)) {
          const { pop, insert, append } = JSON.parse(text)
          if (pop) list.splice(pop.index, 1)
          if (insert) list.splice(insert.index, 0, insert.row.n)
          if (append) list.push(append.row.n)
        }
        const kept = Array.from({ length: 10 }, (_, n) => n).filter((n) => !edits.removed.has(n))
        const expected = kept.map((n) => Number(edits.changed.get(n)?.[0]?.[1] ?? -n))
        expect(list.map(Math.abs)).toEqual(
          [...expected, ...edits.added.map(([cell]) => Number(cell?.[1]))].map(Math.abs),
        )
      }),
      { numRuns },
    )
  })

  it('are taken back and done again, until something else is changed', () => {
    const one = withAdded(noEdits, [cells(1)])
    const two = withAdded(one, [cells(2)])
    const history = done(done(begun(noEdits), one), two)
    expect(undone(undone(undone(history))).now).toBe(noEdits)
    expect(redone(undone(history)).now).toBe(two)
    expect(redone(history)).toBe(history)
    expect(redone(done(undone(history), noEdits)).now).toBe(noEdits)
  })

  it('are sent in requests of so many, and of so many characters', () => {
    expect(batchesOf(['aa', 'bb', 'cc', 'dddddd', 'e'], 2, 5)).toEqual([['aa', 'bb'], ['cc'], ['dddddd'], ['e']])
    expect(batchesOf([], 2, 5)).toEqual([])
  })

  it('of columns reach all rows, those that were changed before too, and rows that come later keep theirs', () => {
    const cells = (text: string) => membersOfText(text)
    let edits = withChanged(noEdits, 2, 0, cells('{"a":1,"b":2.0}'))
    edits = withColumnChanges(withAdded(edits, [cells('{"b":3}')]), [
      { is: 'rename', name: 'b', to: 'c' },
      { is: 'remove', name: 'a' },
      { is: 'add', name: 'new', text: '"x"' },
    ])
    edits = withAdded(edits, [cells('{"b":4}')])
    expect(objectText(edits.changed.get(0) ?? [])).toBe('{"c":2.0,"new":"x"}')
    expect(edits.added.map(objectText)).toEqual(['{"c":3,"new":"x"}', '{"b":4}'])
    expect(objectText(membersWithColumns(edits.columns, cells('{"b":1.50,"new":null,"a":{}}')))).toBe(
      '{"c":1.50,"new":null}',
    )
    expect(namesWithColumns(edits.columns, ['a', 'b', 'z'])).toEqual(['c', 'z', 'new'])
    expect(editCount(edits)).toBe(6)
    expect(editsOf(keptText(edits))).toEqual(edits)
  })

  it('columns stand in the order in which rows bring them', () => {
    expect(columnNames([[{ name: 'b' }], [{ name: 'a' }, { name: 'b' }]])).toEqual(['b', 'a'])
  })
})

describe('a call as a row', () => {
  const record =
    '{"output":{"text":"x","n":1.0},"id":"1","project_id":"a/b","inputs":{"q":"=1","k":2.50},"exception":null,"summary":{}}'

  it('says what it is, then each input and output as they are spelled', () => {
    expect(callCells(new TextEncoder().encode(record), 0)).toEqual([
      ['id', '"1"'],
      ['exception', 'null'],
      ['inputs.q', '"=1"'],
      ['inputs.k', '2.50'],
      ['output.text', '"x"'],
      ['output.n', '1.0'],
      ['summary', '{}'],
    ])
    expect(callCells(new TextEncoder().encode('{"inputs":null,"output":"y"}'), 0)).toEqual([['output', '"y"']])
  })

  it('has all of what went in and came out as well, or what its models were, used and cost', () => {
    const of = (text: string, more: 'usage' | 'wholes') => callCells(new TextEncoder().encode(text), 0, more)
    const names = of(record, 'wholes').map(([name]) => name)
    expect(names.filter(isWhole)).toEqual(['inputs', 'output'])
    expect(new Map(of(record, 'wholes')).get('inputs')).toBe('{"q":"=1","k":2.50}')
    // A failed call has no output: its row has none either.
    expect(of('{"inputs":{"q":1},"output":null}', 'wholes').map(([name]) => name)).toEqual(['inputs', 'inputs.q'])
    const costs = { 'gpt-4o': { prompt_tokens_total_cost: 0.5, completion_tokens_total_cost: 0.25 } }
    const summary = { usage: { 'gpt-4o': { prompt_tokens: 3, output_tokens: 4 } }, weave: { costs } }
    expect(of(JSON.stringify({ id: '1', summary }), 'usage').slice(1, 5)).toEqual([
      ['summary.weave.model', '"gpt-4o"'],
      ['summary.weave.input_tokens', '3'],
      ['summary.weave.output_tokens', '4'],
      ['summary.weave.cost', '0.75'],
    ])
    const unnamed = { usage: { usage: { prompt_tokens: 3 } } }
    const namesOfUnnamed = of(JSON.stringify({ id: '1', summary: unnamed }), 'usage').map(([name]) => name)
    expect(namesOfUnnamed).toEqual(expect.arrayContaining(['summary.weave.input_tokens']))
    expect(namesOfUnnamed).not.toContain('summary.weave.model')
    expect(of('{"id":"1","summary":{}}', 'usage').map(([name]) => name)).toEqual(['id', 'summary'])
  })

  it('gives a dataset its inputs and output, by their own names', () => {
    const names = ['id', 'inputs', 'inputs.q', 'output', 'output.text', 'summary']
    expect(names.filter(isWhole)).toEqual(['inputs', 'output'])
    expect(names.map(rowName)).toEqual(['id', 'inputs', 'q', 'output', 'output.text', 'summary'])
  })
})

it('a dataset has the rows of its table, or those in its value; rows elsewhere are not counted', () => {
  const table = 'weave:///acme/demo/table/abc'
  expect(rowsIn('acme/demo', { rows: table })).toEqual({ table: 'abc' })
  expect(rowsIn('acme/demo', { rows: [{ a: 1 }, { a: 2 }] })).toEqual({ count: 2 })
  for (const value of [null, 3, 'x', {}, { rows: null }, { rows: 'weave:///acme/other/table/abc' }])
    expect(rowsIn('acme/demo', value)).toBeUndefined()
})
