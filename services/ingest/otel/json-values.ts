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

export function createValues(fields: FieldReaders, isExact: boolean, budget: DecodeBudget) {
  const { note, wrong, wellFormed, text, listOf, int64 } = fields

  function isTooDeep(depth: number): boolean {
    if (depth <= maxValueDepth) return false
    note('depth', deepText)
    return true
  }

  /** JSON as it stands in place of a value. */
  function plain(value: unknown, depth: number): Value {
    if (typeof value === 'string') return wellFormed(value)
    if (typeof value === 'number') {
      if (!isExact && Number.isInteger(value) && !Number.isSafeInteger(value)) throw new NeedsToken()
      return finite(value)
    }
    if (isAbsent(value)) return null
    if (typeof value !== 'object' || isRawNumber(value)) return value as Value
    if (isTooDeep(depth)) return null
    if (Array.isArray(value)) {
      const items: Value[] = []
      for (const item of value) addItem(items, plain(item, depth + 1), budget)
      return items
    }
    const branch = newMap(budget)
    for (const [key, item] of Object.entries(value)) setMember(branch, wellFormed(key), plain(item, depth + 1), budget)
    return branch
  }

  /** The value where another type was expected. */
  function other(value: unknown, name: string, expected: string, depth: number): Value {
    wrong(name, expected)
    return plain(value, depth)
  }

  function double(value: unknown, depth: number): Value {
    if (typeof value === 'number') return finite(value)
    if (isRawNumber(value)) return finite(Number(value.rawJSON))
    if (typeof value === 'string') {
      if (value === 'NaN') return 'nan'
      const number = value.trim() === '' ? Number.NaN : Number(value)
      if (!Number.isNaN(number)) return finite(number)
    }
    return other(value, 'doubleValue', 'number', depth)
  }

  function boolean(value: unknown, depth: number): Value {
    if (typeof value === 'boolean') return value
    const meant = other(value, 'boolValue', 'boolean', depth)
    return meant === 'true' || meant === 'false' ? meant === 'true' : meant
  }

  function base64(value: unknown, depth: number): Value {
    if (typeof value === 'string' && base64Form.test(value)) return Buffer.from(value, 'base64').toString('base64')
    return other(value, 'bytesValue', 'base64', depth)
  }

  /** undefined = no value is set. */
  function anyValue(value: unknown, depth: number): Value | undefined {
    if (isAbsent(value)) return undefined
    if (isTooDeep(depth)) return null
    if (!isMembers(value)) return other(value, 'value', 'object', depth)
    for (const key in value) {
      const content = value[key]
      if (content === null) continue
      switch (key) {
        case 'stringValue':
        case 'string_value':
          return typeof content === 'string' ? wellFormed(content) : other(content, key, 'text', depth)
        case 'intValue':
        case 'int_value':
          return int64(content) ?? other(content, key, '64-bit integer', depth)
        case 'boolValue':
        case 'bool_value':
          return boolean(content, depth)
        case 'doubleValue':
        case 'double_value':
          return double(content, depth)
        case 'arrayValue':
        case 'array_value':
          return arrayValue(valuesOf(content, key), depth)
        case 'kvlistValue':
        case 'kvlist_value':
          return keyValueList(content, key, depth)
        case 'bytesValue':
        case 'bytes_value':
          return base64(content, depth)
      }
    }
    return undefined
  }

  /** The member `values` of a list; a list in its place is that. */
  function valuesOf(content: unknown, name: string): unknown[] {
    if (isMembers(content)) return listOf(content.values, `${name}.values`)
    wrong(name, 'object')
    return Array.isArray(content) ? content : [content]
  }

  function arrayValue(entries: unknown[], depth: number): Value[] {
    const items: Value[] = []
    for (const entry of entries) addItem(items, anyValue(entry, depth + 1) ?? null, budget)
    return items
  }

  function keyValueList(content: unknown, name: string, depth: number): Branch {
    // An object of plain members stands for the list of them.
    const isPlain = isMembers(content) && !('values' in content) && Object.keys(content).length > 0
    const entries = isMembers(content) && !isPlain ? content.values : content
    if (isMembers(entries)) return other(entries, name, 'list of keys and values', depth) as Branch
    const decoded = newMap(budget)
    for (const entry of listOf(entries, name)) {
      if (isMembers(entry)) {
        const value = anyValue(entry.value, depth + 1)
        if (value !== undefined) setMember(decoded, text(entry.key, 'key'), value, budget)
      } else if (!isAbsent(entry))
        setMember(decoded, '', other(entry, name, 'list of keys and values', depth + 1), budget)
    }
    return decoded
  }

  function attributes(value: unknown, into: LogAttributes): void {
    if (isMembers(value)) {
      wrong('attributes', 'list')
      for (const [key, item] of Object.entries(value)) addAttribute(into, wellFormed(key), plain(item, 1), budget)
      return
    }
    for (const entry of listOf(value, 'attributes')) {
      if (isMembers(entry)) {
        const item = anyValue(entry.value, 1)
        if (item !== undefined) addAttribute(into, text(entry.key, 'key'), item, budget)
      } else if (!isAbsent(entry))
        addAttribute(into, '', other(entry, 'attributes', 'list of keys and values', 1), budget)
    }
  }

  return { anyValue, attributes }
}
