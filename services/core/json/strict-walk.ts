// Passes over values of JSON in bytes, as strict as JSON.parse: the walk of bodies that are read from their bytes, and what
// says where a refused one stops being JSON.
import { tooLarge } from '../errors.ts'
import { closingQuote, type Scan, skipScalar, skipSpace, Unreadable } from './tokens.ts'

/** Called for the bytes between the quotes of keys and of other strings, with the interest of the walk. */
export type Notes = {
  key(s: Scan, start: number, end: number, colon: number, interest: number): void
  text(s: Scan, start: number, end: number, interest: number): void
}

/** Moves behind the value at `s.at`. Throws 413 when it is nested too deep, `Unreadable` when it is none. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop; split into functions it takes a tenth longer on values of many short members
export function walkValue(s: Scan, notes: Notes | null = null, interest = 0): void {
  const b = s.bytes
  const open = s.open
  const maxDepth = s.maxDepth - s.depth
  let depth = 0
  let atKey = false
  let i = s.at
  s.found = 0
  for (;;) {
    if ((b[i] as number) <= 32) i = skipSpace(s, i)
    const c = b[i]
    if (atKey) {
      if (c !== 34) throw new Unreadable(i)
      const end = closingQuote(s, i + 1)
      const colon = b[end + 1] === 58 ? end + 1 : skipSpace(s, end + 1)
      if (b[colon] !== 58) throw new Unreadable(colon)
      if (notes !== null) notes.key(s, i + 1, end, colon, interest)
      atKey = false
      i = colon + 1
      continue
    }
    if (c === 34) {
      const end = closingQuote(s, i + 1)
      if (notes !== null) notes.text(s, i + 1, end, interest)
      i = end + 1
    } else if (c === 123 || c === 91) {
      if (++depth > maxDepth) throw tooLarge()
      open[depth] = c === 123 ? 1 : 0
      i = (b[i + 1] as number) <= 32 ? skipSpace(s, i + 1) : i + 1
      if (b[i] !== c + 2) {
        atKey = c === 123
        continue
      }
      depth--
      i++
    } else i = skipScalar(s, c, i)
    for (;;) {
      if (depth === 0) {
        s.at = i
        return
      }
      if ((b[i] as number) <= 32) i = skipSpace(s, i)
      const next = b[i]
      if (next === 44) {
        atKey = open[depth] === 1
        i++
        break
      }
      if (next !== (open[depth] === 1 ? 125 : 93)) throw new Unreadable(i)
      depth--
      i++
    }
  }
}

/** Ends the scan: nothing but white space may be left. */
export function endScan(s: Scan): void {
  const end = skipSpace(s, s.at)
  if (end !== s.bytes.length) throw new Unreadable(end)
}
