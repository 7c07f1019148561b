// Bounds of what conditions, fields and orders may become as SQL: parts of a statement, and bytes of its texts.
import { fault } from '../../core/http/errors.ts'
import { quote } from '../../core/store/chdb/literals.ts'
import { children } from './tree.ts'
import type { JsonField, Value } from './types.ts'

/** Operations inside one another once lists of the same operation are flattened: the engine's parser has a bound too. */
const maxNesting = 100
/** Elements of the SQL: the engine takes 50,000 in one statement. */
const maxElements = 30_000
/** The same of fields, or of an order, that stand in a statement beside conditions of any size. */
export const maxBesideConditions = 8_000
/** Bytes of one text, and of the literals of all texts: the engine takes a statement of 64 MiB. */
const maxTextBytes = 2 ** 20
const maxLiteralBytes = 2 ** 24

/** Elements of the SQL that stands for a document, where it is no plain column. */
const documentElements: Record<string, number> = { otel_dump: 75, payload: 8 }

function pathElements({ document, path }: Pick<JsonField, 'document' | 'path'>): number {
  const indexes = path.filter((segment) => typeof segment === 'number').length
  // An index may be a key too: the document is asked for its type, then for one or the other.
  const times = indexes > 0 ? 3 : 1
  return 4 + times * ((documentElements[document] ?? 0) + path.length) + 12 * indexes + 2 * indexes ** 2
}

function fieldElements(field: JsonField): number {
  const { over, ref } = field
  const own = pathElements(field)
  if (ref) return own + fieldElements(ref)
  return over ? own + 8 + (documentElements[over.document] ?? 0) + pathElements(over) : own
}

/** More prefixes than this are looked for at once, this many with one function. */
export const fewPrefixes = 8
export const prefixesAtOnce = 255

const prefixElements = (prefixes: readonly string[]): number =>
  prefixes.length > fewPrefixes ? 12 * Math.ceil(prefixes.length / prefixesAtOnce) : 5 * prefixes.length

/** About how many elements of an SQL syntax tree the node itself becomes. */
function elementsOf(node: Value): number {
  switch (node.is) {
    case 'json':
    case 'exists':
      return fieldElements(node.json)
    case 'column':
      return 12 * node.column.reads.length
    case 'cast':
    case 'in':
      return 10
    case 'contains':
      return 15
    case 'startsWith':
      return prefixElements(node.prefixes)
    case 'anyOf':
      return 12 + prefixElements(node.prefixes)
    default:
      return 5
  }
}

const keysOf = ({ path, over, ref }: JsonField): unknown[] => [
  ...path,
  ...(over?.path ?? []),
  ...(ref ? keysOf(ref) : []),
]

/** Values of the node itself that become literals. */
function valuesOf(node: Value): readonly unknown[] {
  switch (node.is) {
    case 'literal':
      return [node.value]
    case 'in':
      return node.values
    case 'startsWith':
      return node.prefixes
    case 'anyOf':
      return [...node.values, ...node.prefixes]
    case 'json':
    case 'exists':
      return keysOf(node.json)
    default:
      return []
  }
}

function literalBytes(value: unknown): number {
  if (typeof value !== 'string') return 0
  if (value.length > maxTextBytes) throw fault(400, `A text of the query is longer than ${maxTextBytes} bytes`)
  return Buffer.byteLength(quote(value))
}

/** A part of a statement, and how often it occurs there. */
export type Weighed = { of: Value; times: number }

/** Elements of a whole tree; shared parts count as often as they are written. */
export function treeElements(root: Value): number {
  let elements = elementsOf(root)
  for (const child of children(root)) elements += treeElements(child)
  return elements
}

/** Refuses what the engine would not take. @throws Fault 400 */
export function checkWeight(parts: Iterable<Weighed>, most = maxElements): void {
  let elements = 0
  let bytes = 0
  const visit = (node: Value, times: number, depth: number): void => {
    if (depth > maxNesting) throw fault(400, `The query nests more than ${maxNesting} operations`)
    elements += times * elementsOf(node)
    if (elements > most) throw fault(400, 'The query has too many conditions or fields')
    for (const value of valuesOf(node)) bytes += times * literalBytes(value)
    if (bytes > maxLiteralBytes) throw fault(400, 'The texts of the query are too long together')
    for (const child of children(node)) visit(child, times, depth + 1)
  }
  for (const { of, times } of parts) visit(of, times, 0)
}
