// Knows the paths of field values by the bytes that name them: documents of a project repeat the same keys in the same order,
// so that a key is mostly the one that came at its place last time, and no string is made of it.
import { childPath } from '../../content/field-paths.ts'
import { holdsOwnValues, ownValueKey } from '../../core/json/own-value.ts'
import type { ValueColumn } from './columns.ts'
import type { RowGroup } from './row-group.ts'
import { type Bytes, storableText } from './strings.ts'

export class PathNode {
  readonly path: string
  /** Its name in its object, as it stood there first, with its quotes. */
  readonly token: Uint8Array
  /** The column that its last value went into, and the group of that. */
  column: ValueColumn | null = null
  group: RowGroup | null = null
  /** The object in which it was met last. */
  metIn = 0
  children: Map<string, PathNode> | null = null
  /** The value of the object itself, its first member. */
  own: PathNode | null = null
  /** The child that came first in the last object, and what came after this one. */
  first: PathNode | null = null
  next: PathNode | null = null

  constructor(path: string, token: Uint8Array = new Uint8Array()) {
    this.path = path
    this.token = token
  }
}

/** Whether the key that begins at `at` names the node. */
export function isNamedBy({ token }: PathNode, b: Bytes, at: number): boolean {
  const { length } = token
  if (at + length > b.length) return false
  for (let i = 1; i < length; i++) if (b[at + i] !== token[i]) return false
  return true
}

/**
 * The child that the key start..end names; null when it cannot be stored as it is. The value of an object itself, its first
 * member, has the path of the object.
 */
export function childNamed(node: PathNode, b: Bytes, start: number, end: number, isFirst: boolean): PathNode | null {
  const key = storableText(b, start, end)
  if (key === null) return null
  if (isFirst && key === ownValueKey && holdsOwnValues(node.path.split('.', 1)[0] as string)) {
    node.own ??= new PathNode(node.path, new Uint8Array(b.subarray(start, end)))
    return node.own
  }
  node.children ??= new Map()
  let child = node.children.get(key)
  if (child === undefined) {
    child = new PathNode(childPath(node.path, key), new Uint8Array(b.subarray(start, end)))
    node.children.set(key, child)
  }
  return child
}
