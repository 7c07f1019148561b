// Splits dotted field names of requests into the segments of a JSON path.
import { fault } from '../../core/http/errors.ts'
import type { PathSegment } from './types.ts'

/** Segments longer than this can only be keys: arrays are never that long. */
const maxIndexDigits = 9
/** More segments than a document may nest can only name something that is not there. */
const maxSegments = 512
/** Each index is a step of its own in SQL, and the engine bounds the depth of a statement. */
const maxIndexes = 20

/** Names separated by `.`; `\.` is a dot inside a name. */
export function splitPath(name: string): string[] {
  const segments: string[] = []
  let segment = ''
  for (let i = 0; i < name.length; i++) {
    const char = name[i] as string
    if (char === '\\' && name[i + 1] === '.') {
      segment += '.'
      i++
    } else if (char === '.') {
      segments.push(segment)
      segment = ''
    } else segment += char
  }
  segments.push(segment)
  return segments
}

/** Path below a document: non-negative integers may index arrays, negative ones are refused. */
export function jsonPath(segments: readonly string[], name: string): PathSegment[] {
  if (segments.length > maxSegments) throw fault(422, `Field ${name.slice(0, 100)}... has too many segments`)
  let indexes = 0
  return segments.map((segment) => {
    if (/^-\d+$/.test(segment)) throw fault(422, `Negative array index ${segment} in field ${name}`)
    if (segment.length > maxIndexDigits || !/^(0|[1-9]\d*)$/.test(segment)) return segment
    if (++indexes > maxIndexes) throw fault(422, `Field ${name.slice(0, 100)}... has too many array indexes`)
    return Number(segment)
  })
}
