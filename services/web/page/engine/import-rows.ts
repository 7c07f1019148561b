// Rows of a file or of pasted text: CSV, TSV, JSON and JSON Lines, with what cannot be read by its line.
import { itemsOfText, jsonFault, type Member, membersOfText, plainText } from './json-texts.ts'

export const importFormats = ['csv', 'tsv', 'json', 'jsonl'] as const
export type ImportFormat = (typeof importFormats)[number]

type ImportFault = { line: number; reason: string }
export type Imported = {
  /** In the order in which rows bring them; `isJson`: its cells are numbers, words of JSON or nested values. */
  columns: { name: string; isJson: boolean }[]
  /** Cells as JSON. */
  rows: Member[][]
  faults: ImportFault[]
}

/** By its name, else by how it begins. */
export function formatOf(text: string, fileName = ''): ImportFormat {
  const ending = /\.(\w+)$/.exec(fileName.toLowerCase())?.[1]
  if (ending === 'ndjson') return 'jsonl'
  const named = importFormats.find((format) => format === ending)
  if (named) return named
  const begin = text.trimStart()
  if (begin.startsWith('[')) return 'json'
  if (begin.startsWith('{')) return jsonFault(begin) === undefined ? 'json' : 'jsonl'
  return begin.split('\n', 1)[0]?.includes('\t') ? 'tsv' : 'csv'
}

type Record = { line: number; cells: string[]; fault?: string }

/** What stands in quotes that open before `from`, where that ends, and whether it does. */
function quotedAt(text: string, from: number): { cell: string; end: number; isClosed: boolean } {
  let cell = ''
  let at = from
  for (;;) {
    const end = text.indexOf('"', at)
    if (end === -1) return { cell: cell + text.slice(at), end: text.length, isClosed: false }
    cell += text.slice(at, end)
    if (text[end + 1] !== '"') return { cell, end: end + 1, isClosed: true }
    cell += '"'
    at = end + 2
  }
}

/** The cell that begins at a place, where it ends, and what is wrong with it. */
function cellAt(text: string, at: number, delimiter: string): { cell: string; end: number; fault?: string } {
  if (text[at] !== '"') {
    const end = restOfCell(text, at, delimiter)
    return { cell: text.slice(at, end), end }
  }
  const { cell, end: closed, isClosed } = quotedAt(text, at + 1)
  if (!isClosed) return { cell, end: closed, fault: 'a quote is not closed' }
  const end = restOfCell(text, closed, delimiter)
  return { cell, end, ...(end > closed && { fault: 'text stands behind a quote' }) }
}

/** Records of delimited text as RFC 4180 has them: quotes hold delimiters, line ends and doubled quotes. */
export function delimited(text: string, delimiter: string, keepsEmpty = false): Record[] {
  const records: Record[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  while (at < text.length) {
    const record: Record = { line, cells: [] }
    for (;;) {
      const { cell, end, fault } = cellAt(text, at, delimiter)
      record.cells.push(cell)
      if (fault !== undefined) record.fault ??= fault
      line += cell.split('\n').length - 1
      at = end
      if (text[at] !== delimiter) break
      at++
    }
    if (text[at] === '\r') at++
    if (text[at] === '\n') at++
    line++
    // Lines without anything are no rows, but of a rectangle.
    if (keepsEmpty || record.fault !== undefined || record.cells.length > 1 || record.cells[0] !== '')
      records.push(record)
  }
  return records
}

function restOfCell(text: string, from: number, delimiter: string): number {
  let at = from
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

function ofDelimited(text: string, delimiter: string): Imported {
  const [head, ...records] = delimited(text, delimiter)
  if (head === undefined) return { columns: [], rows: [], faults: [] }
  const faults: ImportFault[] = []
  const names = head.cells.map((name, n) => name.trim() || `column ${n + 1}`)
  if (head.fault) faults.push({ line: head.line, reason: head.fault })
  if (new Set(names).size < names.length)
    return { columns: [], rows: [], faults: [{ line: head.line, reason: 'two columns have the same name' }] }
  const rows: Member[][] = []
  for (const { line, cells, fault } of records) {
    const reason =
      fault ??
      (cells.length > names.length ? `it has ${cells.length} cells, and there are ${names.length} columns` : undefined)
    if (reason !== undefined) faults.push({ line, reason })
    else rows.push(cells.map((cell, n) => [names[n] as string, JSON.stringify(cell)] as const))
  }
  const columns = names.map((name, n) => ({
    name,
    isJson:
      rows.length > 0 &&
      rows.every((row) => row[n] === undefined || isValue(plainText(row[n][1]))) &&
      rows.some((row) => (row[n]?.[1] ?? '""') !== '""'),
  }))
  return { columns, rows, faults }
}

/** Nothing, or JSON that is no text. */
export const isValue = (cell: string): boolean =>
  cell === '' || (/^\s*(?:-?\d|[[{]|true\b|false\b|null\b)/.test(cell) && jsonFault(cell) === undefined)

function columnsOf(rows: readonly Member[][]): Imported['columns'] {
  const names = new Set(rows.flatMap((row) => row.map(([name]) => name)))
  return [...names].map((name) => ({ name, isJson: true }))
}

function ofItems(items: readonly { line: number; text: string }[], what: string): Imported {
  const faults: ImportFault[] = []
  const rows: Member[][] = []
  for (const { line, text } of items) {
    const fault = jsonFault(text)
    if (fault !== undefined) faults.push({ line, reason: fault })
    else if (!text.trimStart().startsWith('{')) faults.push({ line, reason: `${what} is no object` })
    else rows.push(membersOfText(text))
  }
  return { columns: columnsOf(rows), rows, faults }
}

/** The line on which the reason of an engine says that the fault is; the first where it does not. */
function lineOfFault(text: string, reason: string): number {
  const place = /position (\d+)/.exec(reason)?.[1]
  return place === undefined ? 1 : text.slice(0, Number(place)).split('\n').length
}

function ofJson(text: string): Imported {
  const fault = jsonFault(text)
  if (fault !== undefined) return { columns: [], rows: [], faults: [{ line: lineOfFault(text, fault), reason: fault }] }
  const begin = text.trimStart()
  // A list, or what a table answers: an object that holds one.
  const list = begin.startsWith('{') ? membersOfText(text).find(([name]) => name === 'rows')?.[1] : begin
  if (begin.startsWith('{') && list?.startsWith('[') !== true) return ofItems([{ line: 1, text }], 'it')
  const items = itemsOfText(list ?? '[]')
  let at = 0
  let line = 1
  const passed = (to: number) => {
    line += text.slice(at, to).split('\n').length - 1
    at = to
  }
  return ofItems(
    items.map((item) => {
      passed(text.indexOf(item, at))
      const found = { line, text: item }
      passed(at + item.length)
      return found
    }),
    'an element',
  )
}

export function importedRows(text: string, format: ImportFormat): Imported {
  if (format === 'csv') return ofDelimited(text, ',')
  if (format === 'tsv') return ofDelimited(text, '\t')
  if (format === 'json') return ofJson(text.replace(/^\ufeff/, ''))
  const lines = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((one, n) => ({ line: n + 1, text: one }))
  return ofItems(
    lines.filter((one) => one.text.trim() !== ''),
    'it',
  )
}

/** What becomes of a column: its name in the table, and whether its texts are read as JSON. */
export type Mapping = { name: string; to: string; isJson: boolean }

/** Cells of the chosen columns. Texts that should be JSON and are none stay texts; empty ones are left out then. */
export function mappedRow(row: readonly Member[], mappings: readonly Mapping[]): Member[] {
  const found = new Map(row)
  return mappings.flatMap(({ name, to, isJson }): Member[] => {
    const text = found.get(name)
    if (text === undefined) return []
    if (!text.startsWith('"')) return [[to, isJson ? text : JSON.stringify(text)]]
    if (!isJson) return [[to, text]]
    const plain = plainText(text).trim()
    if (plain === '') return []
    return [[to, isValue(plain) ? plain : text]]
  })
}
