// Combines the pieces of a streamed value: texts grow, lists continue, and names are set.
import { isLosslessObject } from '../core/json/lossless.ts'

export type JsonFields = Record<string, unknown>

/** Members whose texts come in pieces, wherever they stand; other texts come whole, and may come again. */
const growing = new Set([
  'arguments',
  'content',
  'data',
  'input',
  'reasoning',
  'reasoning_content',
  'refusal',
  'summary',
  'text',
  'thinking',
  'transcript',
])

/** Types of items whose texts come in pieces. */
const growingTypes = /^(?:(?:output_|summary_|reasoning[._])?text|thinking|reasoning(?:\.summary)?)$/

/** Deeper ones are taken as they come. */
const maxDepth = 8
/** Items that a piece may belong to. */
const lastItems = 64

const isAbsent = (value: unknown): boolean => value === null || value === undefined

/** The item of the list that this one goes on with. */
function begunItem(list: unknown[], item: JsonFields): JsonFields | undefined {
  const { type, index, id } = item
  const isPiece = typeof type === 'string' ? growingTypes.test(type) : typeof index === 'number' && 'text' in item
  if (!isPiece) return undefined
  const candidates = index === undefined ? list.slice(-1) : list.slice(-lastItems)
  return candidates.findLast(
    (one): one is JsonFields =>
      isLosslessObject(one) &&
      one.type === type &&
      (index === undefined || one.index === index) &&
      (isAbsent(id) || isAbsent(one.id) || one.id === id),
  )
}

export function addItems(list: unknown[], items: readonly unknown[], depth = 0): void {
  for (const item of items) {
    const begun = isLosslessObject(item) ? begunItem(list, item) : undefined
    if (begun === undefined) list.push(item)
    else grow(begun, item as JsonFields, depth + 1)
  }
}

/** A member's value once the next piece of it is there; what came before is changed in place. */
export function grown(name: string, had: unknown, piece: unknown, depth = 0): unknown {
  if (isAbsent(had)) return piece
  if (typeof had === 'string' && typeof piece === 'string') return growing.has(name) ? had + piece : piece || had
  if (depth >= maxDepth) return piece
  if (Array.isArray(had) && Array.isArray(piece)) addItems(had, piece, depth)
  else if (isLosslessObject(had) && isLosslessObject(piece)) grow(had, piece, depth + 1)
  else return piece
  return had
}

/** Adds the members of a piece. */
export function grow(into: JsonFields, piece: JsonFields, depth = 0): void {
  for (const [name, value] of Object.entries(piece))
    if (!isAbsent(value) && name !== '__proto__') into[name] = grown(name, into[name], value, depth)
}
