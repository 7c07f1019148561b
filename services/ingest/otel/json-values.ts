// Attributes and their values in OTLP/JSON. A value of another type is kept as what it is, and the fault is noted.
import { isRawNumber } from '../../core/json/lossless.ts'
import type { DecodeBudget } from './budget.ts'
import { type FieldReaders, isAbsent, isMembers, NeedsToken } from './json-fields.ts'
import {
  addAttribute,
  addItem,
  deepText,
  finite,
  type LogAttributes,
  maxValueDepth,
  newMap,
  setMember,
} from './spans.ts'
import type { Branch, Value } from './values.ts'

const base64Form = /^[A-Za-z0-9+/_-]*={0,2}$/

/** The readers of fields, with the state of one body: whether its numbers are exact, and the memory that is left to it. */
type Reading = FieldReaders & { isExact: boolean; budget: DecodeBudget }

function isTooDeep(reading: Reading, depth: number): boolean {
  if (depth <= maxValueDepth) return false
  reading.note('depth', deepText)
  return true
}

/** JSON as it stands in place of a value. */
function plain(reading: Reading, value: unknown, depth: number): Value {
  if (typeof value === 'string') return reading.wellFormed(value)
  if (typeof value === 'number') {
    if (!reading.isExact && Number.isInteger(value) && !Number.isSafeInteger(value)) throw new NeedsToken()
    return finite(value)
  }
  if (isAbsent(value)) return null
  if (typeof value !== 'object' || isRawNumber(value)) return value as Value
  if (isTooDeep(reading, depth)) return null
  if (Array.isArray(value)) {
    const items: Value[] = []
    for (const item of value) addItem(items, plain(reading, item, depth + 1), reading.budget)
    return items
  }
  const branch = newMap(reading.budget)
  for (const [key, item] of Object.entries(value))
    setMember(branch, reading.wellFormed(key), plain(reading, item, depth + 1), reading.budget)
  return branch
}

/** The value where another type was expected. */
function other(reading: Reading, value: unknown, name: string, expected: string, depth: number): Value {
  reading.wrong(name, expected)
  return plain(reading, value, depth)
}

function double(reading: Reading, value: unknown, depth: number): Value {
  if (typeof value === 'number') return finite(value)
  if (isRawNumber(value)) return finite(Number(value.rawJSON))
  if (typeof value === 'string') {
    if (value === 'NaN') return 'nan'
    const number = value.trim() === '' ? Number.NaN : Number(value)
    if (!Number.isNaN(number)) return finite(number)
  }
  return other(reading, value, 'doubleValue', 'number', depth)
}

function boolean(reading: Reading, value: unknown, depth: number): Value {
  if (typeof value === 'boolean') return value
  const meant = other(reading, value, 'boolValue', 'boolean', depth)
  return meant === 'true' || meant === 'false' ? meant === 'true' : meant
}

function base64(reading: Reading, value: unknown, depth: number): Value {
  if (typeof value === 'string' && base64Form.test(value)) return Buffer.from(value, 'base64').toString('base64')
  return other(reading, value, 'bytesValue', 'base64', depth)
}

/** undefined = no value is set. */
export function readValue(reading: Reading, value: unknown, depth: number): Value | undefined {
  if (isAbsent(value)) return undefined
  if (isTooDeep(reading, depth)) return null
  if (!isMembers(value)) return other(reading, value, 'value', 'object', depth)
  for (const key in value) {
    const content = value[key]
    if (content === null) continue
    switch (key) {
      case 'stringValue':
      case 'string_value':
        return typeof content === 'string' ? reading.wellFormed(content) : other(reading, content, key, 'text', depth)
      case 'intValue':
      case 'int_value':
        return reading.int64(content) ?? other(reading, content, key, '64-bit integer', depth)
      case 'boolValue':
      case 'bool_value':
        return boolean(reading, content, depth)
      case 'doubleValue':
      case 'double_value':
        return double(reading, content, depth)
      case 'arrayValue':
      case 'array_value':
        return arrayValue(reading, valuesOf(reading, content, key), depth)
      case 'kvlistValue':
      case 'kvlist_value':
        return keyValueList(reading, content, key, depth)
      case 'bytesValue':
      case 'bytes_value':
        return base64(reading, content, depth)
    }
  }
  return undefined
}

/** The member `values` of a list; a list in its place is that. */
function valuesOf(reading: Reading, content: unknown, name: string): unknown[] {
  if (isMembers(content)) return reading.listOf(content.values, `${name}.values`)
  reading.wrong(name, 'object')
  return Array.isArray(content) ? content : [content]
}

function arrayValue(reading: Reading, entries: unknown[], depth: number): Value[] {
  const items: Value[] = []
  for (const entry of entries) addItem(items, readValue(reading, entry, depth + 1) ?? null, reading.budget)
  return items
}

function keyValueList(reading: Reading, content: unknown, name: string, depth: number): Branch {
  // An object of plain members stands for the list of them.
  const isPlain = isMembers(content) && !('values' in content) && Object.keys(content).length > 0
  const entries = isMembers(content) && !isPlain ? content.values : content
  if (isMembers(entries)) return other(reading, entries, name, 'list of keys and values', depth) as Branch
  const decoded = newMap(reading.budget)
  for (const entry of reading.listOf(entries, name)) {
    if (isMembers(entry)) {
      const value = readValue(reading, entry.value, depth + 1)
      if (value !== undefined) setMember(decoded, reading.text(entry.key, 'key'), value, reading.budget)
    } else if (!isAbsent(entry))
      setMember(decoded, '', other(reading, entry, name, 'list of keys and values', depth + 1), reading.budget)
  }
  return decoded
}

export function readAttributes(reading: Reading, value: unknown, into: LogAttributes): void {
  if (isMembers(value)) {
    reading.wrong('attributes', 'list')
    for (const [key, item] of Object.entries(value))
      addAttribute(into, reading.wellFormed(key), plain(reading, item, 1), reading.budget)
    return
  }
  for (const entry of reading.listOf(value, 'attributes')) {
    if (isMembers(entry)) {
      const item = readValue(reading, entry.value, 1)
      if (item !== undefined) addAttribute(into, reading.text(entry.key, 'key'), item, reading.budget)
    } else if (!isAbsent(entry))
      addAttribute(into, '', other(reading, entry, 'attributes', 'list of keys and values', 1), reading.budget)
  }
}
