// Turns `{name:Type}` parameters into SQL literals: the package's own binding runs all queries with parameters of a
// process one after another, because the engine's parameter state is shared by its connections.
import { doubleText } from '../../json/number-text.ts'
import { sqlSpans } from '../sql-text.ts'

type SqlType = { name: string; args: string[]; literal: Literal }

type Literal = (value: unknown, type: SqlType) => string

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const instant = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)?$/
const seconds = /^-?\d{1,12}(?:\.\d{1,9})?$/
const wholeNumber = /^-?\d{1,78}$/
/**
 * Number of entries from which on a list of strings is sent as one joined string: the engine reads it 2-3 times faster.
 */
const joinFrom = 32

/** Everything that could end or escape a string literal becomes \xHH; other text is inert between the quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is looking for
const special = /[\x00-\x1f\x7f'\\]/g
const escapeText = (text: string): string =>
  text.toWellFormed().replace(special, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** A string literal that holds exactly `text`. */
export const quote = (text: string): string => `'${escapeText(text)}'`

const quoteBytes = (bytes: Uint8Array): string =>
  `'${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex').replace(/../g, '\\x$&')}'`

/**
 * Replaces the parameters of one statement by literals of their declared types.
 * @param keep parameters that stay as they are, because their values travel beside the text; their types are checked
 * @throws Error when a parameter is missing or does not fit its type, or when the text holds more than one statement
 */
export function bindParams(
  sql: string,
  params: Record<string, unknown>,
  keep: (name: string, type: string) => boolean = () => false,
): string {
  let bound = ''
  for (const span of sqlSpans(sql)) {
    if (span.kind === 'comment') bound += ' '
    else if (span.kind === 'parameter') {
      const literal = parameter(span.name, span.type, params)
      bound += keep(span.name, span.type) ? span.text : literal
    } else if (span.kind === 'code' && span.text.includes(';')) throw new Error('one statement, without a semicolon')
    else bound += span.text
  }
  return bound
}

function parameter(name: string, type: string, params: Record<string, unknown>): string {
  if (!Object.hasOwn(params, name)) throw new Error(`parameter ${name} is missing`)
  try {
    return expressionOf(type, params[name])
  } catch (error) {
    throw new Error(`parameter ${name}: ${error instanceof Error ? error.message : error}`)
  }
}

const types = new Map<string, SqlType>()

function typeOf(text: string): SqlType {
  let type = types.get(text)
  if (type === undefined) {
    const match = /^(\w+)(?:\(([\s\S]*)\))?$/.exec(text)
    if (match === null) throw new Error(`unknown type ${text}`)
    const name = match[1] as string
    type = { name, args: splitArgs(match[2] ?? ''), literal: literalFor(name) }
    types.set(text, type)
  }
  return type
}

function splitArgs(text: string): string[] {
  const args: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    const char = text[i]
    if (char === '(') depth++
    else if (char === ')') depth--
    else if (char === undefined || (char === ',' && depth === 0)) {
      const arg = text.slice(start, i).trim()
      if (arg !== '') args.push(arg)
      start = i + 1
    }
  }
  return args
}

function expressionOf(text: string, value: unknown): string {
  const type = typeOf(text)
  if (type.name === 'String') return literalOf(type, value)
  if (type.name === 'Identifier') {
    if (typeof value !== 'string' || !identifier.test(value)) throw new Error('not an identifier')
    return `\`${value}\``
  }
  return joinedStrings(type, value) ?? `_CAST(${literalOf(type, value)}, ${quote(text)})`
}

function joinedStrings(type: SqlType, value: unknown): string | undefined {
  if (type.name !== 'Array' || type.args[0] !== 'String' || !Array.isArray(value) || value.length < joinFrom) return
  if (!value.every((entry): entry is string => typeof entry === 'string')) return
  const separator = [',', '|', '\x1f'].find((char) => !value.some((entry) => entry.includes(char)))
  if (separator === undefined) return
  return `splitByChar(${quote(separator)}, ${quote(value.join(separator))})`
}

/** Literals of types that hold others: NULL is up to what they hold. */
const containers = new Map<string, Literal>([
  [
    'Nullable',
    (value, { args }) => (value === null || value === undefined ? 'NULL' : literalOf(inner(args[0]), value)),
  ],
  ['LowCardinality', (value, { args }) => literalOf(inner(args[0]), value)],
  ['Array', arrayLiteral],
  ['Tuple', tupleLiteral],
  ['Map', mapLiteral],
])

/** Literals of all other types, by their names. */
const scalars: readonly (readonly [names: RegExp, literalOfType: (name: string) => (value: unknown) => string])[] = [
  [/^(?:String|FixedString|Enum.*)$/, (name) => (value) => textLiteral(name, value)],
  [/^Bool$/, () => boolLiteral],
  [/^Date/, (name) => (value) => instantOf(name, value)],
  [/^Float/, () => floatOf],
  [/^U?Int\d+$/, integerLiteral],
]

function literalFor(name: string): Literal {
  const container = containers.get(name)
  if (container !== undefined) return container
  const scalar = scalars.find(([names]) => names.test(name))?.[1](name)
  return (value) => {
    if (value === null || value === undefined) throw new Error(`null is not a ${name}`)
    if (scalar === undefined) throw new Error(`type ${name} is not supported as a parameter`)
    return scalar(value)
  }
}

const literalOf = (type: SqlType, value: unknown): string => type.literal(value, type)

function arrayLiteral(value: unknown, { args }: SqlType): string {
  if (!Array.isArray(value)) throw new Error('not an array')
  const element = inner(args[0])
  return `[${value.map((entry) => literalOf(element, entry)).join(',')}]`
}

function tupleLiteral(value: unknown, { args }: SqlType): string {
  if (!Array.isArray(value) || value.length !== args.length) throw new Error(`not a tuple of ${args.length}`)
  return `tuple(${args.map((arg, i) => literalOf(inner(arg), value[i])).join(',')})`
}

function mapLiteral(value: unknown, { args }: SqlType): string {
  if (typeof value !== 'object' || value === null) throw new Error('not a map')
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  const texts = entries.flatMap(([key, entry]) => [literalOf(inner(args[0]), key), literalOf(inner(args[1]), entry)])
  return `map(${texts.join(',')})`
}

function textLiteral(name: string, value: unknown): string {
  if (value instanceof Uint8Array) return quoteBytes(value)
  if (typeof value !== 'string') throw new Error(`a ${typeof value} is not a ${name}`)
  return quote(value)
}

function boolLiteral(value: unknown): string {
  if (typeof value !== 'boolean') throw new Error(`a ${typeof value} is not a Bool`)
  return String(value)
}

const inner = (text: string | undefined): SqlType => {
  if (text === undefined) throw new Error('incomplete type')
  return typeOf(text)
}

function integerLiteral(type: string): (value: unknown) => string {
  const isUnsigned = type.startsWith('U')
  const bits = Number(/\d+/.exec(type))
  const max = 1n << BigInt(isUnsigned ? bits : bits - 1)
  const min = isUnsigned ? 0n : -max
  return (value) => {
    const number = integerOf(value)
    if (number >= max || number < min) throw new Error(`${number} is outside its type`)
    // Literals past 64 bits would be read as floats.
    return bits > 64 ? `'${number}'` : String(number)
  }
}

function integerOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'string' && wholeNumber.test(value)) return BigInt(value)
  throw new Error(`${typeof value === 'number' ? value : `a ${typeof value}`} is not an exact integer`)
}

/** Always a number of type Float64, so that a list of them is one literal: the engine bounds the parts of a statement. */
function floatOf(value: unknown): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new Error(`a ${typeof value} is not a number`)
  const number = Number(value)
  if (Number.isNaN(number)) return 'nan'
  if (!Number.isFinite(number)) return number > 0 ? 'inf' : '-inf'
  const text = doubleText(number)
  return /[.e]/.test(text) ? text : `${text}e0`
}

/** Text `YYYY-MM-DD hh:mm:ss.ffffff` in the type's time zone, a Date, or seconds since 1970. */
function instantOf(type: string, value: unknown): string {
  if (value instanceof Date) {
    const text = value.toISOString()
    return quote(
      type.startsWith('DateTime64')
        ? text.slice(0, -1).replace('T', ' ')
        : type.startsWith('DateTime')
          ? text.slice(0, 19).replace('T', ' ')
          : text.slice(0, 10),
    )
  }
  const text = String(value)
  if (typeof value === 'string' && instant.test(text)) return quote(text.replace('T', ' '))
  if (seconds.test(text)) return `_CAST(${quote(text)}, 'Decimal(20, 9)')`
  throw new Error(`not a ${type}`)
}
