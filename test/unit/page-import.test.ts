// Rows that come from files and pasted text: what is read, what is not and on which line, and what becomes of columns.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvRow } from '../../services/web/page/engine/csv.ts'
import { fileText } from '../../services/web/page/engine/file-text.ts'
import {
  delimited,
  formatOf,
  importedRows,
  isValue,
  type Mapping,
  mappedRow,
} from '../../services/web/page/engine/import-rows.ts'
import { objectText } from '../../services/web/page/engine/json-texts.ts'
import { pastedRows, rectangleOf } from '../../services/web/page/engine/pasted-cells.ts'
import { noEdits, withRows } from '../../services/web/page/engine/table-edits.ts'
import { runs } from '../fixtures/runs.ts'

const texts = (text: string, format: Parameters<typeof importedRows>[1]) =>
  importedRows(text, format).rows.map(objectText)

describe('rows of a file', () => {
  it('are told by the name of the file, else by how it begins', () => {
    expect(formatOf('{}', 'a.CSV')).toBe('csv')
    expect(formatOf('a', 'x.ndjson')).toBe('jsonl')
    expect(formatOf('a,b', 'x.txt')).toBe('csv')
    expect(formatOf(' [1]')).toBe('json')
    expect(formatOf('{"rows":[]}')).toBe('json')
    expect(formatOf('{"a":1}\n{"a":2}')).toBe('jsonl')
    expect(formatOf('a\tb\n1,2')).toBe('tsv')
  })

  it.each<[string, string, string]>([
    ['{"a":1}\n{"a":2}\n', 'x.json', 'jsonl'],
    ['{"a":1}\n{"a":2}', 'x.txt', 'jsonl'],
    ['{"a":1}\r\n{"a":2}', 'x.log', 'jsonl'],
    ['{"a":1}\n{"a":2}', 'x.jsonlines', 'jsonl'],
    ['\ufeff{"a":1}\n{"a":2}', 'x.ldjson', 'jsonl'],
    ['\u001e{"a":1}\n\u001e{"a":2}', 'x.json-seq', 'jsonl'],
    ['{"a":\n{"a":2}', 'x', 'jsonl'],
    ['{\n  "a": 1,\n  "b": 2\n}', 'x.json', 'json'],
    ['{\n  "rows": [\n{"a": 1}]}', 'x.txt', 'json'],
    ['[\n{"a": 1}\n]', 'x.jsonl', 'json'],
    ['{"a":1}', 'x.jsonl', 'json'],
    [`{"a":"${'x'.repeat(20_000)}"}\n{"a":2}`, 'x.json', 'jsonl'],
    ['a\tb', 'x.tab', 'tsv'],
    ['a|b', 'x.psv', 'csv'],
  ])('%j in %s is %s', (text, name, expected) => {
    expect(formatOf(text, name)).toBe(expected)
  })

  it.each<[string, string]>([
    ['comma', 'q,n\nx,1\ny,2'],
    ['semicolon', 'q;n\nx;1\ny;2'],
    ['tab', 'q\tn\nx\t1\ny\t2'],
    ['bar', 'q|n\nx|1\ny|2'],
    ['unit separator', 'q\u001fn\nx\u001f1\ny\u001f2'],
    ['line that names it', 'sep=;\r\nq;n\r\nx;1\r\ny;2\r\n'],
    ['quoted line that names it', '\ufeff"sep=,"\nq,n\nx,1\ny,2'],
    ['line that names an odd one', 'SEP=!\nq!n\nx!1\ny!2'],
    ['older line ends', 'q;n\rx;1\ry;2\r'],
  ])('of cells with another delimiter are read: %s', (_, text) => {
    for (const format of ['csv', 'tsv'] as const)
      expect(texts(text, format)).toEqual(['{"q":"x","n":"1"}', '{"q":"y","n":"2"}'])
  })

  it('have the delimiter that all lines have, whatever stands in their cells', () => {
    expect(texts('q;n\n"a, b, c";1,5\nd;2,5', 'csv')).toEqual(['{"q":"a, b, c","n":"1,5"}', '{"q":"d","n":"2,5"}'])
    expect(texts('q,n\n"a;b;c",1\nd;e,2', 'csv')).toEqual(['{"q":"a;b;c","n":"1"}', '{"q":"d;e","n":"2"}'])
    expect(texts('q, in words;n\nx;1\ny;2', 'csv')).toEqual([
      '{"q, in words":"x","n":"1"}',
      '{"q, in words":"y","n":"2"}',
    ])
    expect(texts('text\nhello; world | all', 'csv')).toEqual(['{"text":"hello; world | all"}'])
    expect(importedRows('sep=;\nq;n\n1;2;3', 'csv').faults).toEqual([
      { line: 3, reason: 'it has 3 cells, but there are 2 columns' },
    ])
  })

  it('of JSON Lines may have other line ends and marks', () => {
    for (const text of ['\ufeff{"a":1}\r\n{"a":2}\r\n', '{"a":1}\r{"a":2}', '\u001e{"a":1}\n\u001e{"a":2}\n'])
      expect(texts(text, 'jsonl')).toEqual(['{"a":1}', '{"a":2}'])
  })

  const bytesOf = (text: string, size: 2 | 4, isLittle: boolean, mark: boolean) => {
    const points = size === 4 ? Array.from(mark ? `\ufeff${text}` : text, (one) => one.codePointAt(0) as number) : []
    const units = Array.from({ length: text.length }, (_, n) => text.charCodeAt(n))
    const values = size === 4 ? points : mark ? [0xfeff, ...units] : units
    const bytes = new Uint8Array(values.length * size)
    const view = new DataView(bytes.buffer)
    for (const [n, value] of values.entries())
      if (size === 4) view.setUint32(n * 4, value, isLittle)
      else view.setUint16(n * 2, value, isLittle)
    return bytes
  }

  it('are read in the encoding that they were written in', () => {
    const text = 'q;n\r\nGrüße 内部 😀;1\r\nplain;2\r\n'
    for (const isLittle of [true, false]) {
      expect(fileText(bytesOf(text, 2, isLittle, true))).toBe(text)
      expect(fileText(bytesOf(text, 2, isLittle, false))).toBe(text)
      expect(fileText(bytesOf(text, 4, isLittle, true))).toBe(text)
    }
    expect(fileText(new TextEncoder().encode(text))).toBe(text)
    expect(fileText(new TextEncoder().encode(`\ufeff${text}`))).toBe(text)
    expect(fileText(Buffer.from('Grüße;€', 'latin1'))).not.toContain('\ufffd')
    expect(fileText(Uint8Array.from([0x47, 0xfc, 0x80]))).toBe('Gü€')
    expect(fileText(new Uint8Array())).toBe('')
    expect(fileText(Uint8Array.from([0x61, 0, 0x62]))).toHaveLength(3)
  })

  it('of CSV have quotes, line ends and delimiters in cells; what cannot be read is told by its line', () => {
    const text = '\ufeffq,n\r\n"a ""b"", c\nd",1.0\r\n\r\nshort\r\nx,1,2\r\ny,"2"z\r\nw,"open\r\n'
    expect(texts(text, 'csv')).toEqual(['{"q":"a \\"b\\", c\\nd","n":"1.0"}', '{"q":"short"}'])
    expect(importedRows(text, 'csv').faults).toEqual([
      { line: 6, reason: 'it has 3 cells, but there are 2 columns' },
      { line: 7, reason: 'text after a closing quote' },
      { line: 8, reason: 'missing closing quote' },
    ])
    expect(importedRows('a,a\n1,2', 'csv').faults).toEqual([{ line: 1, reason: 'two columns have the same name' }])
    expect(importedRows('a,,\n1,2,3', 'csv').columns.map(({ name }) => name)).toEqual(['a', 'column 2', 'column 3'])
    expect(importedRows('', 'csv')).toEqual({ columns: [], rows: [], faults: [] })
  })

  it('of CSV say which columns hold numbers or JSON', () => {
    const { columns } = importedRows('t,n,j,e,m\nx,1,[1],,1\n1,-2.50,"{""a"":1}",,x', 'csv')
    expect(columns.map(({ isJson }) => isJson)).toEqual([false, true, true, false, false])
  })

  it('of JSON Lines and JSON keep their spelling, and what is no object is told by its line', () => {
    const lines = '{"a":1.0,"b":12345678901234567890}\n\n[1]\n{"a":\n{"c":{"d":[1, 2]}}'
    expect(texts(lines, 'jsonl')).toEqual(['{"a":1.0,"b":12345678901234567890}', '{"c":{"d":[1, 2]}}'])
    expect(importedRows(lines, 'jsonl').faults.map(({ line }) => line)).toEqual([3, 4])
    expect(importedRows(lines, 'jsonl').columns).toEqual(['a', 'b', 'c'].map((name) => ({ name, isJson: true })))
    const list = '[\n {"a":1.0},\n 3,\n {"a":\n 2}]'
    expect(texts(list, 'json')).toEqual(['{"a":1.0}', '{"a":2}'])
    expect(importedRows(list, 'json').faults).toEqual([{ line: 3, reason: 'an element is not an object' }])
    expect(texts('{"rows":[{"a":1}]}', 'json')).toEqual(['{"a":1}'])
    expect(texts('{"a":1}', 'json')).toEqual(['{"a":1}'])
    const [fault] = importedRows('[{"a":1},\n{"b" 2}]', 'json').faults
    expect(fault?.line).toBe(2)
  })

  it('that were written as CSV are read as they were', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '\t', 'é') }).map((one) => `x${one}`)
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }), (rows) => {
        const columns = ['p', 'q']
        const file = rows
          .map(([p, q]) =>
            csvRow(columns, [
              ['p', JSON.stringify(p)],
              ['q', JSON.stringify(q)],
            ]),
          )
          .join('')
        expect(delimited(file, ',').map(({ cells }) => cells)).toEqual(rows.map((row) => [...row]))
      }),
      { numRuns: runs(200, 5_000) },
    )
  })
})

it('columns are chosen, named and read as text or as JSON, and what is no JSON stays a text', () => {
  const [row = []] = importedRows('q,n,none,j\nx,1.50,,oops', 'csv').rows
  const as = (name: string, to: string, isJson: boolean): Mapping => ({ name, to, isJson })
  expect(objectText(mappedRow(row, [as('n', 'score', true), as('q', 'question', false)]))).toBe(
    '{"score":1.50,"question":"x"}',
  )
  expect(objectText(mappedRow(row, [as('none', 'a', true), as('none', 'b', false), as('j', 'c', true)]))).toBe(
    '{"b":"","c":"oops"}',
  )
  const [made = []] = importedRows('{"n":1.0,"t":"2"}', 'jsonl').rows
  expect(objectText(mappedRow(made, [as('n', 'n', false), as('t', 't', true)]))).toBe('{"n":"1.0","t":2}')
})

it('a rectangle of a spreadsheet keeps its empty cells and lines, and quotes only where they are whole', () => {
  expect(rectangleOf('a\tb\r\n\t2\r\n')).toEqual([
    ['a', 'b'],
    ['', '2'],
  ])
  expect(rectangleOf('a\n\nc\n')).toEqual([['a'], [''], ['c']])
  expect(rectangleOf('"two\nlines"\t"a ""b"""')).toEqual([['two\nlines', 'a "b"']])
  expect(rectangleOf('"unclosed\tx\n5" pipe\ty')).toEqual([
    ['"unclosed', 'x'],
    ['5" pipe', 'y'],
  ])
})

it('a rectangle is put over rows and behind them, as JSON where the table holds values that are no texts', () => {
  const rows = [[['q', '"old"'] as const, ['n', '1.0'] as const, ['more', '{}'] as const], [['q', '"x"'] as const]]
  const last = [['q', '"x"'] as const, ['n', 'null'] as const]
  const rectangle = [
    ['5', '2.50', 'beyond'],
    ['b', '7'],
    ['c', '8'],
    ['d', 'many'],
  ]
  const pasted = pastedRows(rows, last, ['q', 'n'], rectangle)
  expect(pasted.map((cells) => Object.fromEntries(cells))).toEqual([
    { q: '"5"', n: '2.50', more: '{}' },
    { q: '"b"', n: '"7"' },
    { q: '"c"', n: '8' },
    { q: '"d"', n: '"many"' },
  ])
  const added = [[['q', '"was added"'] as const]]
  const edits = withRows({ ...noEdits, added }, 2, 1, [[['q', '1']], [['q', '2']], [['q', '3']]])
  expect(edits.changed).toEqual(new Map([[1, [['q', '1']]]]))
  expect(edits.added).toEqual([[['q', '2']], [['q', '3']]])
})

describe('what is odd in a file', () => {
  it.each(['null', '5', '-0.5', 'true', '"text"', ' \n"{}"\n', '\ufeffnull'])(
    'JSON that is no object and no list: %j',
    (text) => {
      expect(importedRows(text, 'json')).toEqual({
        columns: [],
        rows: [],
        faults: [{ line: 1, reason: 'it is not an object' }],
      })
    },
  )

  it.each<[text: string, lines: number[], rows: string[]]>([
    ['[]', [], []],
    ['{"rows":[]}', [], []],
    ['{}', [], ['{}']],
    ['[{}]', [], ['{}']],
    ['[\n5,\n"{}",\n[{}],\nnull]', [2, 3, 4, 5], []],
    // The same value again stands on its own line.
    ['[1,\n1,\n{"a":1},\n1]', [1, 2, 4], ['{"a":1}']],
    ['["[", "]",\n{"a":"]"}]', [1, 1], ['{"a":"]"}']],
    // Rows that are no list are a member as any other.
    ['{"rows":null}', [], ['{"rows":null}']],
    ['{"rows":"[1]"}', [], ['{"rows":"[1]"}']],
    ['{"rows":{"a":1}}', [], ['{"rows":{"a":1}}']],
    ['{"__proto__":1,"constructor":2}', [], ['{"__proto__":1,"constructor":2}']],
    ['[{"":1},{"a b":2},{"😀":"\\ud83d"}]', [], ['{"":1}', '{"a b":2}', '{"😀":"\\ud83d"}']],
    ['', [1], []],
    ['   ', [1], []],
    ['{', [1], []],
    ['{"a":1}x', [1], []],
    ["{'a':1}", [1], []],
    ['{"a":NaN}', [1], []],
    ['[{"a":1},]', [1], []],
  ])('JSON: %j', (text, lines, rows) => {
    expect(texts(text, 'json')).toEqual(rows)
    expect(importedRows(text, 'json').faults.map(({ line }) => line)).toEqual(lines)
  })

  it.each<[text: string, columns: string[], rows: string[], faults: [line: number, reason: string][]]>([
    ['\n\n', [], [], []],
    ['a', ['a'], [], []],
    ['a\n\n\n', ['a'], [], []],
    ['a\n" "\n""\n', ['a'], ['{"a":" "}'], []],
    [' a , b \n1, 2 ', ['a', 'b'], ['{"a":"1","b":" 2 "}'], []],
    ['__proto__,constructor\nx,y', ['__proto__', 'constructor'], ['{"__proto__":"x","constructor":"y"}'], []],
    ['😀,ü\n"a\n😀",b', ['😀', 'ü'], ['{"😀":"a\\n😀","ü":"b"}'], []],
    ['a,b\n1', ['a', 'b'], ['{"a":"1"}'], []],
    ['a,b\n,\n', ['a', 'b'], ['{"a":"","b":""}'], []],
    ['a, a\n1,2', [], [], [[1, 'two columns have the same name']]],
    ['a\n"x', ['a'], [], [[2, 'missing closing quote']]],
    ['a,"b\n1,2', ['a', 'b\n1,2'], [], [[1, 'missing closing quote']]],
    [
      'a\n"1"2\n"3" \n4"5"',
      ['a'],
      ['{"a":"4\\"5\\""}'],
      [
        [2, 'text after a closing quote'],
        [3, 'text after a closing quote'],
      ],
    ],
    // Lines are those of the file, also behind cells of several lines.
    [
      'a,b\n"1\n2\n3",x\n1,2,3',
      ['a', 'b'],
      ['{"a":"1\\n2\\n3","b":"x"}'],
      [[5, 'it has 3 cells, but there are 2 columns']],
    ],
  ])('CSV: %j', (text, columns, rows, faults) => {
    const found = importedRows(text, 'csv')
    expect(found.columns.map(({ name }) => name)).toEqual(columns)
    expect(found.rows.map(objectText)).toEqual(rows)
    expect(found.faults.map(({ line, reason }) => [line, reason])).toEqual(faults)
  })

  it.each<[cell: string, is: boolean]>([
    ['', true],
    ['0', true],
    ['-1.50e+3', true],
    ['[]', true],
    ['{"a":1}', true],
    ['true', true],
    ['null', true],
    [' 5', true],
    ['007', false],
    ['+5', false],
    ['.5', false],
    ['5.', false],
    ['1,5', false],
    ['0x10', false],
    ['NaN', false],
    ['Infinity', false],
    ['-', false],
    ['True', false],
    ['nullable', false],
    ['"quoted"', false],
    ['{a:1}', false],
    ['2026-01-05', false],
    ['12:30', false],
    ['٣', false],
  ])('the cell %j is JSON that is no text: %j', (cell, is) => {
    expect(isValue(cell)).toBe(is)
  })

  it('a row that was mapped twice, by names that are none, and of an empty row', () => {
    const row = [['a', '"1"'] as const, ['__proto__', '"x"'] as const]
    const map = (...mappings: Mapping[]) => objectText(mappedRow(row, mappings))
    expect(map()).toBe('{}')
    expect(map({ name: 'b', to: 'b', isJson: true }, { name: 'toString', to: 'c', isJson: false })).toBe('{}')
    expect(map({ name: 'a', to: 'x', isJson: true }, { name: 'a', to: 'y', isJson: false })).toBe('{"x":1,"y":"1"}')
    expect(map({ name: '__proto__', to: '__proto__', isJson: true })).toBe('{"__proto__":"x"}')
    expect(mappedRow([], [{ name: 'a', to: 'a', isJson: true }])).toEqual([])
  })
})
