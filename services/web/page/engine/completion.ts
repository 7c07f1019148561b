// Completes the line of a filter: the field or value at the caret, and the text that it becomes.
import { type FieldKind, fieldsOfRows, kindOfField, pathsOf, type RowsOf, statusValues } from './filter-fields.ts'
import { literalText } from './query-text.ts'
import { opNameOf } from './rows.ts'

/** The part of the line that a suggestion replaces. */
export type Written =
  | { of: 'field'; from: number; to: number; prefix: string }
  | { of: 'value'; from: number; to: number; field: string; prefix: string }

/** Start of the term at the caret: after the last space or bracket outside of quotes. */
function termStart(text: string, caret: number): number {
  let start = 0
  let isQuoted = false
  for (let at = 0; at < caret; at++) {
    const letter = text[at] as string
    if (letter === '\\') at++
    else if (letter === '"') isQuoted = !isQuoted
    else if (!isQuoted && /[\s(),]/.test(letter)) start = at + 1
  }
  return start
}

export function writtenAt(text: string, caret: number): Written {
  const start = termStart(text, caret)
  const from = text[start] === '-' ? start + 1 : start
  const typed = text.slice(from, caret)
  const rest = /^[^\s(),]*/.exec(text.slice(caret))?.[0] ?? ''
  const condition = /^((?:[a-z_]+)(?:\.[^\s:=<>~()"]+)*)(>=|<=|[:=<>~])/.exec(typed)
  // A list of values begins at its bracket or comma: the field stands before that.
  const list = /([a-z][^\s:=<>~()"]*)[:=]\([^()]*$/.exec(text.slice(0, start))
  if (list)
    return { of: 'value', from, to: caret + rest.length, field: list[1] as string, prefix: typed.replace(/^"/, '') }
  if (!condition) return { of: 'field', from, to: caret + rest.length, prefix: typed }
  const [head, field = ''] = condition
  return {
    of: 'value',
    from: from + head.length,
    to: caret + rest.length,
    field,
    prefix: typed.slice(head.length).replace(/^"/, ''),
  }
}

/** The first operator after a field. */
const operators: Record<FieldKind, string> = {
  text: ':',
  list: ':',
  status: ':',
  number: '>',
  money: '>',
  duration: '>',
  time: '>',
}

/** Fields that every call, or trace, has, with what follows them first. */
export const plainFieldsOf = (rows: RowsOf): readonly string[] => [
  ...fieldsOfRows(rows).map(([name, kind]) => `${name}${name === 'error' ? '~' : operators[kind]}`),
  'has:',
  'is:root',
  'is:running',
]

/** Attributes of calls and of spans go by the names that programs send; what else a span has does not. */
const ofSpans = /^attributes\.(?:otel_span\.attributes\.)?(?!otel_span\.)/

/** Whether a name, or a part of it behind a point or a line, begins so. */
export function beginsSo(name: string, low: string): boolean {
  const all = name.toLowerCase()
  return all.startsWith(low) || (low !== '' && ['.', '_'].some((before) => all.includes(before + low)))
}

/** A path of the server as a field of the line; null for what the line has no name for. */
export function fieldOfPath(path: string): string | null {
  if (/[\s:=<>~()"]/.test(path.replace(/^feedback\.\[[^\]]*\]/, ''))) return null
  const given = /^feedback\.\[\w+\.(annotation|runnable)\.([^\].\s:=<>~()"]+)\]\.payload\.(value|output)(\..+)?$/.exec(
    path,
  )
  if (given) {
    const [, kind, name, member, rest = ''] = given
    if (kind === 'annotation') return member === 'value' && rest === '' ? `feedback.${name}` : null
    return member === 'output' ? `scorer.${name}${rest}` : null
  }
  return /^(?:inputs|output|attributes|summary)(?:\.|$)/.test(path) ? path : null
}

/** A field of the line by the name that a program sent it under, where the line reads that as the same field. */
export function sentNameOf(field: string): string {
  const sent = field.replace(ofSpans, '')
  return sent !== field && pathsOf(sent).includes(field) ? sent : field
}

/** A name without the signs that tell a point within a key from one between keys. */
export const readableName = (name: string): string => name.replaceAll('\\.', '.')

type Found = { path: string; calls: number | null }

/** Fields of the server by their names in the line, each once: `shown` is what readers see and type. */
export function namedFields(fields: readonly Found[]) {
  const known = new Map<string, number | null>()
  for (const { path, calls } of fields) {
    const field = fieldOfPath(path)
    if (field === null) continue
    const name = sentNameOf(field)
    const before = known.get(name) ?? null
    known.set(name, calls === null ? before : (before ?? 0) + calls)
  }
  return [...known].map(([name, calls]) => ({ name, shown: readableName(name), calls }))
}

/** A field or value that may stand in the line, and how many calls have it; null where that is not known. */
export type Suggestion = {
  value: string | number
  shown: string
  calls: number | null
  /** The line as it stands: a word that begins like a field is searched for. */
  isSearch?: true
}

const maxShown = 12

/** Attributes of spans are of few of the calls: how many have them is no number to show beside the others. */
export type KnownFields = { fields: readonly Found[]; span_attributes?: { fields: readonly Found[] } | undefined }

/** Fields of which a part begins with what is written. */
export function fieldSuggestions(found: KnownFields | undefined, prefix: string, rows: RowsOf): Suggestion[] {
  const low = prefix.toLowerCase()
  const plain = plainFieldsOf(rows).map((name) => ({ value: name, shown: name, calls: null }))
  const ofSpans = (found?.span_attributes?.fields ?? []).map(({ path }) => ({ path, calls: null }))
  const known = namedFields([...(found?.fields ?? []), ...ofSpans])
  const all = [...plain, ...known.map(({ name, shown, calls }) => ({ value: `${name}:`, shown, calls }))]
  const matching = all.filter(({ shown }) => beginsSo(shown, low) && shown !== prefix)
  // Names that begin so stand before those of which a part does.
  const isFirst = ({ shown }: Suggestion) => shown.toLowerCase().startsWith(low)
  return [...matching.filter(isFirst), ...matching.filter((one) => !isFirst(one))].slice(0, maxShown)
}

/** With the word itself behind them, which may be meant as one to search for. */
export const withSearch = (suggestions: Suggestion[], word: string): Suggestion[] =>
  suggestions.length > 0 && /^[\p{L}\p{N}][^\s":=<>~()]*$/u.test(word)
    ? [...suggestions, { value: word, shown: `Search for "${word}"`, calls: null, isSearch: true }]
    : suggestions

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/**
 * The suggestion that shows as taken: the first that goes on with what is written, by its name, or else by the last
 * part of that; -1 where the line stands as it is.
 */
export function offeredAt(written: Written | undefined, suggestions: readonly Suggestion[]): number {
  if (written === undefined || written.prefix === '') return -1
  const { prefix } = written
  if (suggestions.some(({ shown }) => shown === prefix || shown.slice(0, -1) === prefix)) return -1
  const begun = (part: (name: string) => string): number =>
    suggestions.findIndex(
      ({ shown, isSearch }) => !isSearch && part(shown.toLowerCase()).startsWith(prefix.toLowerCase()),
    )
  const at = begun((name) => name)
  return at < 0 && written.of === 'field' ? begun(lastPart) : at
}

/** The suggestion that Tab takes: of fields also one that shows, and is not taken by Enter. */
export function tabbedAt(written: Written | undefined, suggestions: readonly Suggestion[]): number {
  const at = offeredAt(written, suggestions)
  if (at >= 0 || written?.of !== 'field' || written.prefix === '') return at
  return suggestions.findIndex(({ shown, isSearch }) => !isSearch && beginsSo(shown, written.prefix.toLowerCase()))
}

type Valued = { value: string | number; calls: number }

/** Values that go by other names than they are stored under, counted together. */
function namedValues(field: string, values: readonly Valued[]): Map<string | number, number> {
  const found = new Map<string | number, number>()
  const add = (value: string | number, calls: number) => found.set(value, (found.get(value) ?? 0) + calls)
  for (const { value, calls } of values)
    if (field === 'op') add(opNameOf(String(value)), calls)
    else if (field === 'model') for (const one of String(value).split(', ')) add(one, calls)
    else add(value, calls)
  return found
}

/** Values of one place of a field. @property isOfFew it is known of the latest spans alone: their number says nothing. */
type PlaceValues = { values: readonly Valued[]; isOfFew?: boolean }

/** @param places a span may have the same value in two of them */
export function valueSuggestions(field: string, places: readonly PlaceValues[], prefix: string): Suggestion[] {
  const low = prefix.toLowerCase()
  const most = new Map<string | number, number>()
  const counted = new Map<string | number, number>()
  for (const { values, isOfFew } of places)
    for (const [value, calls] of namedValues(field, values)) {
      most.set(value, Math.max(calls, most.get(value) ?? 0))
      if (!isOfFew) counted.set(value, Math.max(calls, counted.get(value) ?? 0))
    }
  const stored = [...most].sort(([, a], [, b]) => b - a).map(([value]) => value)
  return (kindOfField(field) === 'status' ? statusValues : stored)
    .filter((value) => String(value).toLowerCase().startsWith(low))
    .slice(0, maxShown)
    .map((value) => ({ value, shown: String(value), calls: counted.get(value) ?? null }))
}

/** The line with a suggestion in place of what was written, and where the caret goes. */
export function completed(text: string, written: Written, value: string | number): { text: string; caret: number } {
  const own = written.of === 'field' ? String(value) : literalText(value)
  const isOpen = written.of === 'field' && !own.startsWith('is:')
  const after = text.slice(written.to)
  const put = isOpen || after.startsWith(' ') || after.startsWith(')') ? own : `${own} `
  return { text: text.slice(0, written.from) + put + after, caret: written.from + put.length }
}
