// The one line that filters calls: text to tree, tree to text, and tree to the request that the server understands.
import { type FieldKind, kindOfField, takesTimes } from './filter-fields.ts'

export type Literal = string | number | boolean | null
export type Operator = ':' | '=' | '>' | '>=' | '<' | '<=' | '~'
export type Term =
  | { type: 'cond'; not: boolean; field: string; operator: Operator; values: Literal[] }
  | { type: 'has'; not: boolean; field: string }
  | { type: 'is'; not: boolean; what: 'root' | 'running' }
  | { type: 'word'; not: boolean; text: string }
  | { type: 'group'; not: boolean; any: Term[][] }
/** Alternatives of conjunctions. */
export type Expression = Term[][]

export class QueryFault extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/** Whatever stands before an operator is a field: whether there is one is told later (filter-checks.ts). */
const fieldForm = /^[\p{L}_][\p{L}\p{N}_-]*(?:\.[^\s:=<>~()"]+)*(?=>=|<=|[:=><~])/u
const maxDepth = 20
/** Units of a field's numbers, by its kind. */
const units: Partial<Record<FieldKind, ReadonlyMap<string, number>>> = {
  duration: new Map([
    ['ms', 1],
    ['s', 1_000],
    ['m', 60_000],
    ['h', 3_600_000],
  ]),
  number: new Map([
    ['k', 1_000],
    ['m', 1_000_000],
  ]),
}

/** A word that stands apart, behind a number. */
const wordBehind = /^\s+(?!OR\b)(\p{L}{1,20})(?=[\s)]|$)/u
const amounts = /^(?:k|thousand|m|mio|millions?|g|bn?|billions?|tokens?|usd|dollars?|cents?|eur|euros?)$/i
/**
 * Words behind a number without a unit that are read as its unit, by the kind of the field: a bare number may be a time of
 * any unit, so that any word may be one there.
 */
const unitsApart: Partial<Record<FieldKind, RegExp>> = { duration: /^/, number: amounts, money: amounts }

/** A time of the day, and what else may belong to one: half of the day, or zone. */
const clock = /^\d{1,2}:\d{2}/
const clockBehind = /^\s+(\d{1,2}:\d{2}[^\s(),"]*)(?:\s+([ap]m|utc|gmt|z|[+-]\d{2}:?\d{2})(?=[\s),]|$))?/i

type Reader = { text: string; at: number; depth: number }

const space = (reader: Reader): void => {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at++
}

function quoted(reader: Reader): string {
  let value = ''
  const from = reader.at
  for (reader.at++; reader.at < reader.text.length; reader.at++) {
    const letter = reader.text[reader.at]
    if (letter === '"') {
      reader.at++
      return value
    }
    // Before other letters it is one itself, as in the names of files.
    if (letter === '\\' && /["\\]/.test(reader.text[reader.at + 1] ?? '')) reader.at++
    value += reader.text[reader.at]
  }
  throw new QueryFault('Missing closing quote', from)
}

function bare(reader: Reader, stop: RegExp): string {
  const from = reader.at
  while (reader.at < reader.text.length && !stop.test(reader.text[reader.at] as string)) reader.at++
  return reader.text.slice(from, reader.at)
}

function literal(reader: Reader, field: string): Literal {
  if (reader.text[reader.at] === '"') return quoted(reader)
  const from = reader.at
  const text = bare(reader, /[\s(),]/)
  if (text === '') throw new QueryFault(`Missing value after ${field}`, from)
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return numberOf(reader, field, text) ?? (takesTimes(field) ? timeOf(reader, text) : text)
}

/** A day with the time that stands behind it, in the form that has no blank. */
function timeOf(reader: Reader, text: string): string {
  const behind = /^\d{4}-\d{1,2}-\d{1,2}$/.test(text) && clockBehind.exec(reader.text.slice(reader.at))
  if (!behind) return text
  const [all, time = '', zone = ''] = behind
  reader.at += all.length
  const day = text.replaceAll(/(?<!\d)\d(?!\d)/g, '0$&')
  return `${day}T${time.replace(/^\d:/, '0$&')}${zone}`
}

/** A text as a number of the field, or with the word behind it that is no unit of it; undefined where it is neither. */
function numberOf(reader: Reader, field: string, text: string): Literal | undefined {
  const kind = kindOfField(field)
  const plain = kind === 'money' ? text.replace(/^\$/, '') : text
  const [, digits, unit] = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)([a-z]+)?$/i.exec(plain) ?? []
  if (digits === undefined) return undefined
  const value = Number(digits)
  if (unit !== undefined) {
    const size = units[kind ?? 'text']?.get(unit.toLowerCase())
    return size === undefined ? undefined : value * size
  }
  const [behind = '', word = ''] = wordBehind.exec(reader.text.slice(reader.at)) ?? []
  if (word !== '' && kind !== undefined && unitsApart[kind]?.test(word)) {
    reader.at += behind.length
    return `${text} ${word}`
  }
  // Digits that a number does not keep stay text.
  const isNumber = kind !== undefined && kind !== 'text'
  return isNumber || (field !== 'id' && field !== 'trace' && String(value) === text) ? value : undefined
}

function values(reader: Reader, field: string): Literal[] {
  if (reader.text[reader.at] !== '(') return [literal(reader, field)]
  const from = reader.at
  reader.at++
  const found: Literal[] = []
  for (;;) {
    space(reader)
    found.push(literal(reader, field))
    space(reader)
    const letter = reader.text[reader.at]
    reader.at++
    if (letter === ')') return found
    if (letter !== ',') throw new QueryFault('Missing ) at the end of a list', from)
  }
}

function term(reader: Reader): Term {
  const not = reader.text[reader.at] === '-' && /\S/.test(reader.text[reader.at + 1] ?? '')
  if (not) reader.at++
  if (reader.text[reader.at] === '(') {
    const from = reader.at
    reader.at++
    if (++reader.depth > maxDepth) throw new QueryFault('Too many parentheses', from)
    const any = alternatives(reader)
    reader.depth--
    space(reader)
    if (reader.text[reader.at] !== ')') throw new QueryFault('Missing )', from)
    reader.at++
    return { type: 'group', not, any }
  }
  if (reader.text[reader.at] === '"') return { type: 'word', not, text: quoted(reader) }
  const rest = reader.text.slice(reader.at)
  const special = /^(has|is):([^\s()"]+)/.exec(rest)
  if (special !== null) {
    reader.at += special[0].length
    const [, kind, what = ''] = special
    if (kind === 'has') return { type: 'has', not, field: what }
    if (what !== 'root' && what !== 'running')
      throw new QueryFault(`is: must be root or running, not ${what.slice(0, 60)}`, reader.at - what.length)
    return { type: 'is', not, what }
  }
  const field = fieldForm.exec(rest)?.[0]
  if (field !== undefined) {
    reader.at += field.length
    const operator = (/^(?:>=|<=|[:=><~])/.exec(reader.text.slice(reader.at)) as RegExpExecArray)[0] as Operator
    reader.at += operator.length
    return { type: 'cond', not, field, operator, values: values(reader, field) }
  }
  const from = reader.at
  const text = bare(reader, /[\s()"]/)
  if (text === '') throw new QueryFault('Missing term', from)
  return { type: 'word', not, text }
}

function alternatives(reader: Reader): Expression {
  const any: Expression = [[]]
  for (;;) {
    space(reader)
    const rest = reader.text.slice(reader.at)
    if (rest === '' || rest.startsWith(')'))
      return any.length === 1 && any[0]?.length === 0 ? [] : checked(any, reader.at)
    if (/^OR(?=\s|\(|$)/.test(rest)) {
      if (any.at(-1)?.length === 0) throw new QueryFault('OR needs a term on both sides', reader.at)
      reader.at += 2
      any.push([])
    } else any.at(-1)?.push(term(reader))
  }
}

function checked(any: Expression, at: number): Expression {
  if (any.at(-1)?.length === 0) throw new QueryFault('OR needs a term on both sides', at)
  return any
}

/** @throws QueryFault with the place of what cannot be read */
export function parseQuery(text: string): Expression {
  const reader = { text, at: 0, depth: 0 }
  const found = alternatives(reader)
  if (reader.at < text.length) throw new QueryFault('Unexpected )', reader.at)
  return found
}

export const literalText = (value: Literal): string => {
  if (typeof value !== 'string') return String(value)
  // An equals sign at the beginning would belong to a `<` or `>` before it.
  const isPlain =
    /^[^\s(),"\\=][^\s(),"\\]*$/.test(value) &&
    !/^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:[a-z]+)?|\$-?\d.*)$/i.test(value)
  return isPlain ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Times in their greatest whole unit. */
function valueText(field: string, value: Literal): string {
  if (typeof value !== 'number' || kindOfField(field) !== 'duration') return literalText(value)
  const isWhole = value !== 0 && Number.isInteger(value) && Math.abs(value) < 1e12
  if (isWhole && value % 60_000 === 0) return `${value / 60_000}m`
  return isWhole && value % 1_000 === 0 ? `${value / 1_000}s` : `${value}ms`
}

export function termText(one: Term): string {
  const sign = one.not ? '-' : ''
  switch (one.type) {
    case 'group':
      return `${sign}(${queryText(one.any)})`
    case 'has':
      return `${sign}has:${one.field}`
    case 'is':
      return `${sign}is:${one.what}`
    case 'word': {
      const isPlain =
        /^[^\s()"\\-][^\s()"\\]*$/.test(one.text) &&
        one.text !== 'OR' &&
        !fieldForm.test(one.text) &&
        !amounts.test(one.text) &&
        !clock.test(one.text) &&
        !/^(?:has|is):/.test(one.text)
      return sign + (isPlain ? one.text : `"${one.text.replace(/["\\]/g, '\\$&')}"`)
    }
    case 'cond': {
      const [first = null] = one.values
      const texts = one.values.map((value) => valueText(one.field, value))
      const list = one.values.length === 1 ? valueText(one.field, first) : `(${texts.join(', ')})`
      return `${sign}${one.field}${one.operator}${list}`
    }
    default:
      return one satisfies never
  }
}

export const queryText = (any: Expression): string => any.map((all) => all.map(termText).join(' ')).join(' OR ')
