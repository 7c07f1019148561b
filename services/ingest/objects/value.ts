// Derives the facts of an object's value: its class, its kind and its refs, and the value after class processing.

import { extractRefs, refuseInternalRefs } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { isLongerThan } from '../../core/json/characters.ts'
import type { ObjectKind } from '../../events/objects.ts'
import type { BuiltinClass } from './builtin-classes.ts'

export type Processed = {
  /** JSON text to hash and store. */
  text: string
  /** '' = none. */
  baseClass: string
  leafClass: string
  kind: ObjectKind
}

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

/** Class names that a value carries itself; null without class data. */
function ownClass(value: Record<string, unknown>): { baseClass: string; leafClass: string } | null {
  const bases = value._bases
  if (!Array.isArray(bases) || bases.length < 2 || !bases.every((name) => typeof name === 'string')) return null
  const root = bases.at(-2)
  if (bases.at(-1) !== 'BaseModel' || (root !== 'Object' && root !== 'BaseObject')) return null
  const leafClass = typeof value._class_name === 'string' ? value._class_name : ''
  return { leafClass, baseClass: bases.length === 2 ? leafClass : (bases.at(-3) as string) }
}

/**
 * Class processing (specification: objects, 2.2 step 1).
 * @param text JSON text of the value as sent; `value` is the same, parsed
 * @throws Fault 400
 */
export function processClass(
  text: string,
  value: unknown,
  requested: string | null,
  classes: ReadonlyMap<string, BuiltinClass>,
): Processed {
  const plain: Processed = { text, baseClass: '', leafClass: '', kind: kindOf(value) }
  const object = asObject(value)
  if (object === null) {
    if (requested !== null) throw fault(400, `val must be an object to be a ${requested}`)
    return plain
  }
  const own = ownClass(object)
  if (own !== null) {
    if (requested !== null && requested !== own.leafClass)
      throw fault(400, `val is of class ${own.leafClass}, not ${requested}`)
    return { ...plain, ...own }
  }
  if (requested === null) return plain
  const builtin = classes.get(requested)
  if (builtin === undefined) throw fault(400, `Unknown object class ${requested.slice(0, 200)}`)
  // Class data replaces the type that was sent, so that equal content is of one kind.
  return { text: builtin.shape(text, 'val'), baseClass: builtin.baseClass, leafClass: requested, kind: 'object' }
}

/** An op is a value whose type name is Op; everything else is an object. */
function kindOf(value: unknown): ObjectKind {
  const object = asObject(value)
  if (object === null || !Object.hasOwn(object, '_type')) return 'object'
  const type = Object.hasOwn(object, 'weave_type') ? asObject(object.weave_type)?.type : object._type
  return type === 'Op' ? 'op' : 'object'
}

/** The refs of a value that is to be stored. 400 when it holds a ref of the internal scheme: those cannot be sent. */
export function storedRefs(text: string, value: unknown): string[] {
  refuseInternalRefs(text, value)
  return text.includes(':') ? extractRefs(value) : []
}

const nameCharacters = /^[\p{L}\p{N}_.-]+$/u

/** @throws Fault 422 for characters that a name cannot have, 400 when it is too long */
export function checkObjectName(objectId: string): void {
  if (!nameCharacters.test(objectId))
    throw fault(422, 'object_id may hold letters, digits, "_", "." and "-" only, and must not be empty')
  if (isLongerThan(objectId, 128)) throw fault(400, 'object_id is longer than 128 characters')
}
