// Rows of a file or of pasted text: CSV, TSV, JSON and JSON Lines, with what cannot be read by its line.
import { itemsOfText, jsonFault, type Member, membersOfText, plainText } from './json-texts.ts'

export const importFormats = ['csv', 'tsv', 'json', 'jsonl'] as const
export type ImportFormat = (typeof importFormats)[number]

type ImportFault = { line: number; reason: string }
export type Imported = {
  /** Columns in the order in which rows bring them; `isJson`: its cells are numbers, words of JSON or nested values. */
  columns: { name: string; isJson: boolean }[]
  /** Cells as JSON. */
  rows: Member[][]
  faults: ImportFault[]
}

/** Formats by the ending of a name; those of JSON are told apart by what the file holds. */
const endings: { [ending: string]: ImportFormat } = {
  csv: 'csv',
  psv: 'csv',
  ssv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  jsonl: 'jsonl',
  jsonlines: 'jsonl',
  ldjson: 'jsonl',
  ndjson: 'jsonl',
}

/** Lines that are looked at. */
const firstLines = 20

/** One value, or one on each line. */
function jsonFormatOf(begin: string): ImportFormat {
  const end = begin.indexOf('\n')
  if (end === -1) return begin.startsWith('[') || jsonFault(begin) === undefined ? 'json' : 'jsonl'
  const rest = begin.slice(end).trimStart()
  if (rest === '') return 'json'
  if (jsonFault(begin.slice(0, end)) === undefined) return 'jsonl'
  // The first line may be the one that is wrong.
  return rest.split('\n', firstLines).some((line) => line.startsWith('{') && jsonFault(line) === undefined) &&
    !begin.startsWith('[')
    ? 'jsonl'
    : 'json'
}

/** The text without marks of the byte order and of records (RFC 7464) before it. */
function withoutMarks(text: string): string {
  let from = 0
  while (text[from] === '\ufeff' || text[from] === '\u001e') from++
  return text.slice(from)
}

/** The format by the file's name, else by the first characters. */
export function formatOf(text: string, fileName = ''): ImportFormat {
  const ending = /\.(\w+)$/.exec(fileName.toLowerCase())?.[1] ?? ''
  const named = Object.hasOwn(endings, ending) ? endings[ending] : undefined
  if (named === 'csv' || named === 'tsv') return named
  const begin = withoutMarks(text).trimStart()
  if (/^[[{]/.test(begin)) return jsonFormatOf(begin)
  if (named !== undefined) return named
  return begin.slice(0, begin.search(/[\r\n]|$/)).includes('\t') ? 'tsv' : 'csv'
}

const delimiters = [',', ';', '\t', '|', '^', '~', '\u001f']
/** The line that spreadsheets write before the first one; with its line break. */
const separatorLine = /^\ufeff?"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)/i
/** Characters by which a delimiter is found. */
const sampleLength = 64 * 1024

/** Share of the lines that have as many cells as the first one; 0 when that has one. */
function regularity(text: string, delimiter: string): number {
  const [head, ...records] = delimited(text, delimiter).slice(0, firstLines + 1)
  const count = head?.cells.length ?? 1
  if (count === 1) return 0
  return (1 + records.filter(({ cells, fault }) => !fault && cells.length === count).length) / (1 + records.length)
}

/** The delimiter of a table's cells, and how its text goes on behind the line that may name it. */
function delimiterOf(text: string, usual: string): { delimiter: string; from: number } {
  const named = separatorLine.exec(text)
  if (named) return { delimiter: named[1] as string, from: named[0].length }
  const cut = text.length > sampleLength ? text.lastIndexOf('\n', sampleLength) : -1
  const sample = text.slice(0, cut > 0 ? cut : sampleLength)
  if (usual !== ',' && sample.slice(0, sample.search(/[\r\n]|$/)).includes(usual)) return { delimiter: usual, from: 0 }
  let found = { delimiter: usual, share: regularity(sample, usual) }
  for (const delimiter of delimiters) {
    const share = regularity(sample, delimiter)
    if (share > found.share) found = { delimiter, share }
  }
  return { delimiter: found.delimiter, from: 0 }
}

type Record = { line: number; cells: string[]; fault?: string }

/** The text in quotes that open before `from`, its end, and whether it is closed. */
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
  if (!isClosed) return { cell, end: closed, fault: 'missing closing quote' }
  const end = restOfCell(text, closed, delimiter)
  return { cell, end, ...(end > closed && { fault: 'text after a closing quote' }) }
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

function ofDelimited(text: string, usual: string): Imported {
  const { delimiter, from } = delimiterOf(text, usual)
  const found = delimited(text.slice(from), delimiter)
  const [head, ...records] = from === 0 ? found : found.map((record) => ({ ...record, line: record.line + 1 }))
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
      (cells.length > names.length ? `it has ${cells.length} cells, but there are ${names.length} columns` : undefined)
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
    else if (!text.trimStart().startsWith('{')) faults.push({ line, reason: `${what} is not an object` })
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
  if (list?.startsWith('[') !== true) return ofItems([{ line: 1, text }], 'it')
  const items = itemsOfText(list)
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
  if (format === 'json') return ofJson(withoutMarks(text))
  const lines = text.split(/\r\n|\r|\n/).map((one, n) => ({ line: n + 1, text: withoutMarks(one) }))
  return ofItems(
    lines.filter((one) => one.text.trim() !== ''),
    'it',
  )
}

/** Mapping of a column: its name in the table, and whether its texts are read as JSON. */
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
