// Names of spans on their way to op refs and display names (specification: OTLP, 2.1 and 2.2).
import { hash } from 'node:crypto'

const maxOpName = 128
const maxDisplayName = 1024
const delimiters = new Set([...', ;|/?.'])
const noDelimiter = /[^, ;|/?.]/

type NameSegment = { delimiters: string[]; text: string[] }

/** Splits into parts, each with the delimiters before it; delimiters at the very end make a part without text. */
function segmentsOf(points: string[]): NameSegment[] {
  const parts: NameSegment[] = []
  let part: NameSegment = { delimiters: [], text: [] }
  for (const point of points) {
    if (!delimiters.has(point)) part.text.push(point)
    else {
      if (part.text.length > 0) {
        parts.push(part)
        part = { delimiters: [], text: [] }
      }
      part.delimiters.push(point)
    }
  }
  if (part.text.length > 0 || part.delimiters.length > 0) parts.push(part)
  return parts
}

/** Enough of the start of a name to shorten it: names may have millions of parts. Shorter names are whole. */
function startOf(name: string, max: number): string[] {
  // A code point takes at most two code units; half of one that is cut off lies behind the last that counts.
  const points = [...name.slice(0, 2 * (max + 1))].slice(0, max + 1)
  const isCut = points.length > max
  // Delimiters are followed by text or end the name: that decides, however many they are.
  if (isCut && delimiters.has(points[max] as string)) {
    const rest = name.slice(points.join('').length)
    const text = noDelimiter.exec(rest)
    if (text !== null) points.push(text[0])
  }
  return points
}

/**
 * Shortens a name at its delimiters; lengths count code points.
 * @param suffix ends every shortened name
 * @param tailOf what ends a name that is cut before these delimiters; the suffix in its place when it does not fit
 */
function shortened(name: string, max: number, suffix: string, tailOf: (delimiters: string) => string): string {
  if (name.length <= max) return name
  const points = startOf(name, max)
  if (points.length <= max) return name
  const room = max - suffix.length
  const parts = segmentsOf(points)
  const first = parts[0] as NameSegment
  // Delimiters at the start of a name are its first part.
  const leading = first.delimiters.length > 0
  const head = leading ? first.delimiters : first.text
  const rest = leading ? [{ delimiters: [], text: first.text }, ...parts.slice(1)] : parts.slice(1)
  if (rest.length === 0 || head.length > room) return points.slice(0, room).join('') + suffix
  let current = head.join('')
  let length = head.length
  for (const part of rest) {
    if (part.text.length === 0) break
    const between = part.delimiters.join('')
    const tail = tailOf(between)
    const size = part.delimiters.length + part.text.length
    if (length + size >= max - tail.length) return current + (length + tail.length > max ? suffix : tail)
    current += between + part.text.join('')
    length += size
  }
  return current
}

export function shortOpName(name: string): string {
  if (name.length <= maxOpName) return name
  const suffix = `:${hash('sha256', name, 'hex').slice(0, 4)}`
  return shortened(name, maxOpName, suffix, () => suffix)
}

export const shortDisplayName = (name: string): string =>
  shortened(name, maxDisplayName, '...', (between) => ('...'.startsWith(between) ? '...' : `${between}...`))

/** Object id of the op of a span name. */
export function opObjectId(opName: string): string {
  const id = opName
    .replace(/[ /]/g, '_')
    .replace(/[^\p{L}\p{N}_.-]/gu, '')
    .toLowerCase()
  return id === '' ? 'unknown' : id
}
