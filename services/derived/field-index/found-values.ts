// The field values of one document, until it is known which of them count: bytes of the document, in its order.
import { PathNode } from './paths.ts'

/** A document with more is not indexed. */
export const maxFieldValues = 64

export const tooMany = new Error('more field values than are indexed')

/** Its JSON text is `text`, or where that is null bytes start..end of the document. */
export type FoundValue = { node: PathNode; kind: number; start: number; end: number; text: string | null }

const nowhere = new PathNode('')

export class FoundValues {
  /** Number of values that count; their objects are reused. */
  count = 0
  readonly values: readonly FoundValue[] = Array.from({ length: maxFieldValues }, () => ({
    node: nowhere,
    kind: 0,
    start: 0,
    end: 0,
    text: null,
  }))
  /** Objects that were looked into so far, in all documents. */
  objects = 0
  /** Keys that were looked for by name: each may have become a path of its own. */
  lookups = 0

  /** @throws tooMany */
  keep(node: PathNode, kind: number, start = 0, end = 0, text: string | null = null): void {
    if (this.count >= maxFieldValues) throw tooMany
    const value = this.values[this.count++] as FoundValue
    value.node = node
    value.kind = kind
    value.start = start
    value.end = end
    value.text = text
  }
}
