// Scans a JSON document in bytes for its short field values; what is not indexed is reported as such.
import { maxFieldValueBytes, maxPathBytes } from '../../content/field-paths.ts'
import { byteContainerEnd, byteStringEnd, byteValueEnd, byteWordEnd, skipByteSpace } from '../../core/json/byte-walk.ts'
import { fieldKinds } from './columns.ts'
import { keepNumber, keepPlainString, keepString } from './forms.ts'
import { type FoundValues, maxFieldValues, tooMany } from './found-values.ts'
import { childNamed, isNamedBy, type PathNode } from './paths.ts'
import type { Bytes } from './strings.ts'

/** Depth of objects above which they are not indexed. */
const maxDepth = 6

/**
 * Finds the field values of the document that starts at `begin`, whose own path is that of `root`; none for null. The text
 * is valid JSON, as the edge checks it. Returns the index after the document.
 */
export function scanDocument(b: Bytes, begin: number, root: PathNode, found: FoundValues): number {
  found.count = 0
  try {
    return scanValue(b, begin, root, 0, found)
  } catch (error) {
    if (error !== tooMany) throw error
    found.count = 0
    found.keep(root, fieldKinds.opaque)
    return byteValueEnd(b, begin)
  }
}

/** Returns the index after the value. */
function scanValue(b: Bytes, at: number, node: PathNode, depth: number, found: FoundValues): number {
  const c = b[at]
  if (c === 123) return scanObject(b, at, node, depth, found)
  if (c === 91) {
    found.keep(node, fieldKinds.opaque)
    return byteContainerEnd(b, at)
  }
  if (c === 34) return scanString(b, at, node, found)
  const end = byteWordEnd(b, at)
  if (c === 116) found.keep(node, fieldKinds.text, 0, 0, '"true"')
  else if (c === 102) found.keep(node, fieldKinds.text, 0, 0, '"false"')
  else if (c !== 110) {
    if (end - at > maxFieldValueBytes) found.keep(node, fieldKinds.long)
    else keepNumber(found, node, b, at, end)
  }
  return end
}

function scanString(b: Bytes, at: number, node: PathNode, found: FoundValues): number {
  const before = Math.min(at + maxFieldValueBytes + 2, b.length)
  let i = at + 1
  while (i < before && b[i] !== 34 && b[i] !== 92) i++
  const isPlain = i < before && b[i] === 34
  const end = isPlain ? i + 1 : byteStringEnd(b, at)
  if (end - at - 2 > maxFieldValueBytes) found.keep(node, fieldKinds.long)
  else if (isPlain) keepPlainString(found, node, b, at, end)
  else keepString(found, node, b, at, end)
  return end
}

function scanObject(b: Bytes, at: number, node: PathNode, depth: number, found: FoundValues): number {
  const before = found.count
  const object = ++found.objects
  let keys = 0
  let previous: PathNode | null = null
  let i = skipByteSpace(b, at + 1)
  if (depth >= maxDepth) return leaveOut(b, at, node, before, found)
  while (b[i] === 34) {
    let child: PathNode | null = previous === null ? node.first : previous.next
    if (child !== null && isNamedBy(child, b, i)) i += child.token.length
    else {
      found.lookups++
      const end = byteStringEnd(b, i)
      child = lookUp(node, previous, b, i, end)
      i = end
    }
    if (child === null || child.metIn === object || keys++ > 4 * maxFieldValues || child.path.length > maxPathBytes)
      return leaveOut(b, at, node, before, found)
    child.metIn = object
    i = scanValue(b, skipByteSpace(b, skipByteSpace(b, i) + 1), child, depth + 1, found)
    i = skipByteSpace(b, i)
    if (b[i] === 44) i = skipByteSpace(b, i + 1)
    previous = child
  }
  if (found.count === before) found.keep(node, fieldKinds.hollow)
  return i + 1
}

/** The child that the key start..end names, noted as the one that follows `previous`; null when it is not indexed. */
function lookUp(node: PathNode, previous: PathNode | null, b: Bytes, start: number, end: number): PathNode | null {
  const child = end - start > maxPathBytes ? null : childNamed(node, b, start, end, previous === null)
  if (child === null) return null
  if (previous === null) node.first = child
  else previous.next = child
  return child
}

/** Reports the object that starts at `at` as not indexed, instead of what was found in it. */
function leaveOut(b: Bytes, at: number, node: PathNode, before: number, found: FoundValues): number {
  found.count = before
  found.keep(node, fieldKinds.opaque)
  return byteContainerEnd(b, at)
}
