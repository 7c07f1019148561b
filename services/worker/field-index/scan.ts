// Scans a JSON document in bytes for its short field values; what is not indexed is reported as such.
import { childPath, maxFieldValueBytes, maxPathBytes } from '../../content/field-paths.ts'
import { byteContainerEnd, byteStringEnd, byteValueEnd, byteWordEnd, skipByteSpace } from '../../core/json/byte-walk.ts'
import { doubleText, numberForm, stringToDouble } from '../../core/json/number-text.ts'

/** What the field index knows of a path; the kinds are those of the table payload_leaves. */
export type FieldValue =
  | { path: string; kind: 'number'; num: number }
  | { path: string; kind: 'text' | 'numeral'; str: string }
  | { path: string; kind: 'long' | 'hollow' | 'opaque' }

/** Depth of objects, and number of field values of a document, above which they are not indexed. */
const maxDepth = 6
const maxFieldValues = 64

export type Bytes = Buffer & {
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

const tooMany = new Error('more field values than are indexed')

/** Text of the string token start..end; null when it cannot be stored as it is. */
function textOf(b: Bytes, start: number, end: number): string | null {
  let hasEscape = false
  for (let i = start + 1; i < end - 1; i++)
    if (b[i] === 92) {
      hasEscape = true
      break
    }
  if (!hasEscape) return b.utf8Slice(start + 1, end - 1)
  const text = JSON.parse(b.utf8Slice(start, end)) as string
  return text.isWellFormed() ? text : null
}

/** Objects of ordinary size need no set. */
function isIn(keys: readonly string[], key: string): boolean {
  for (const one of keys) if (one === key) return true
  return false
}

const mayBeNumber = (text: string): boolean => {
  const c = text.charCodeAt(0)
  return (c >= 48 && c <= 57) || c === 43 || c === 45 || c === 46
}

function ofNumber(path: string, form: string): FieldValue {
  const num = Number(form)
  if (doubleText(num) === form) return { path, kind: 'number', num }
  return { path, kind: Number.isFinite(num) ? 'numeral' : 'text', str: form }
}

function ofText(path: string, str: string): FieldValue {
  if (!mayBeNumber(str)) return { path, kind: 'text', str }
  const num = stringToDouble(str)
  if (num === null) return { path, kind: 'text', str }
  return doubleText(num) === str ? { path, kind: 'number', num } : { path, kind: 'numeral', str }
}

/**
 * Returns the field values of one document, whose own path is `root`; none for null and an absent document. The text is
 * valid JSON, as the edge checks it.
 */
export function fieldValuesOf(document: Buffer, root: string): FieldValue[] {
  const fieldValues: FieldValue[] = []
  if (document.length > 0) scanDocument(document as Bytes, skipByteSpace(document as Bytes, 0), root, fieldValues)
  return fieldValues
}

/** Adds the field values of the document that starts at `begin`; returns the index after it. */
export function scanDocument(b: Bytes, begin: number, root: string, all: FieldValue[]): number {
  const fieldValues: FieldValue[] = []
  const keep = (fieldValue: FieldValue): void => {
    if (fieldValues.length >= maxFieldValues) throw tooMany
    fieldValues.push(fieldValue)
  }

  /** Returns the index after the value. */
  const value = (at: number, path: string, depth: number): number => {
    const c = b[at]
    if (c === 123) return object(at, path, depth)
    if (c === 91) {
      keep({ path, kind: 'opaque' })
      return byteContainerEnd(b, at)
    }
    if (c === 34) {
      const end = byteStringEnd(b, at)
      const text = end - at - 2 > maxFieldValueBytes ? null : textOf(b, at, end)
      keep(text === null ? { path, kind: 'long' } : ofText(path, text))
      return end
    }
    const end = byteWordEnd(b, at)
    if (c === 110) return end
    const token = b.latin1Slice(at, end)
    if (token.length > maxFieldValueBytes) keep({ path, kind: 'long' })
    else keep(c === 116 || c === 102 ? { path, kind: 'text', str: token } : ofNumber(path, numberForm(token)))
    return end
  }

  const object = (at: number, path: string, depth: number): number => {
    const before = fieldValues.length
    const leaveOut = (): number => {
      fieldValues.length = before
      keep({ path, kind: 'opaque' })
      return byteContainerEnd(b, at)
    }
    if (depth >= maxDepth) return leaveOut()
    const keys: string[] = []
    let i = skipByteSpace(b, at + 1)
    while (b[i] === 34) {
      const keyEnd = byteStringEnd(b, i)
      const key = keyEnd - i > maxPathBytes ? null : textOf(b, i, keyEnd)
      if (key === null || keys.length > 4 * maxFieldValues || isIn(keys, key)) return leaveOut()
      keys.push(key)
      const child = childPath(path, key)
      if (child.length > maxPathBytes) return leaveOut()
      i = value(skipByteSpace(b, skipByteSpace(b, keyEnd) + 1), child, depth + 1)
      i = skipByteSpace(b, i)
      if (b[i] === 44) i = skipByteSpace(b, i + 1)
    }
    if (fieldValues.length === before) keep({ path, kind: 'hollow' })
    return i + 1
  }

  try {
    const end = value(begin, root, 0)
    for (const fieldValue of fieldValues) all.push(fieldValue)
    return end
  } catch (error) {
    if (error !== tooMany) throw error
    all.push({ path: root, kind: 'opaque' })
    return byteValueEnd(b, begin)
  }
}
