// Finds the values of a JSON text in bytes, for texts that are known to be JSON. Nothing is checked: of a text that is
// cut off every value ends where it does. `strict-walk.ts` is as strict as JSON.parse.

/** Bytes that are looked at one by one before native code searches for the closing quote. */
const nearBytes = 40

/** Index after the string whose opening quote is at `at`. */
export function byteStringEnd(b: Buffer, at: number): number {
  let i = at + 1
  const near = Math.min(i + nearBytes, b.length)
  while (i < near) {
    const c = b[i]
    if (c === 34) return i + 1
    i += c === 92 ? 2 : 1
  }
  for (;;) {
    const quote = b.indexOf(34, i)
    if (quote === -1) return b.length
    let before = quote - 1
    while (before >= i && b[before] === 92) before--
    if ((quote - before) % 2 === 1) return quote + 1
    i = quote + 1
  }
}

export function skipByteSpace(b: Buffer, at: number): number {
  let i = at
  while (b[i] === 32 || b[i] === 10 || b[i] === 13 || b[i] === 9) i++
  return i
}

/** Index after the array or object that starts at `at`. */
export function byteContainerEnd(b: Buffer, at: number): number {
  let depth = 0
  let i = at
  while (i < b.length) {
    const c = b[i]
    if (c === 34) i = byteStringEnd(b, i)
    else {
      i++
      if (c === 123 || c === 91) depth++
      else if ((c === 125 || c === 93) && --depth === 0) return i
    }
  }
  return b.length
}

/** Index after the number or word that starts at `at`. */
export function byteWordEnd(b: Buffer, at: number): number {
  let i = at
  for (; i < b.length; i++) {
    const c = b[i] as number
    if (c === 44 || c === 125 || c === 93 || c <= 32) break
  }
  return i
}

/** Index after the value that starts at `at`. */
export function byteValueEnd(b: Buffer, at: number): number {
  const c = b[at]
  if (c === 34) return byteStringEnd(b, at)
  return c === 123 || c === 91 ? byteContainerEnd(b, at) : byteWordEnd(b, at)
}

export type BytePlace = { start: number; end: number }

/** A member of an object's text: `"key":value` lies at start..end, the value at valueStart..end. */
export type Member = { key: string; valueStart: number } & BytePlace

/** The members of the object at a place, in their order. */
export function* membersAt(b: Buffer, at: number): Generator<Member> {
  let i = skipByteSpace(b, at + 1)
  while (b[i] === 34) {
    const start = i
    const keyEnd = byteStringEnd(b, i)
    const key = JSON.parse(b.toString('utf8', i, keyEnd)) as string
    const valueStart = skipByteSpace(b, skipByteSpace(b, keyEnd) + 1)
    const end = byteValueEnd(b, valueStart)
    yield { key, start, valueStart, end }
    i = skipByteSpace(b, end)
    if (b[i] === 44) i = skipByteSpace(b, i + 1)
  }
}

/** The items of the array at a place, in their order. */
export function* itemsAt(b: Buffer, at: number): Generator<BytePlace> {
  let i = skipByteSpace(b, at + 1)
  while (i < b.length && b[i] !== 93) {
    const end = byteValueEnd(b, i)
    yield { start: i, end }
    i = skipByteSpace(b, end)
    if (b[i] === 44) i = skipByteSpace(b, i + 1)
  }
}

function childOf(b: Buffer, at: number, segment: string | number): BytePlace | null {
  if (b[at] === 123) {
    const name = String(segment)
    for (const { key, valueStart, end } of membersAt(b, at)) if (key === name) return { start: valueStart, end }
    return null
  }
  if (b[at] !== 91 || typeof segment !== 'number') return null
  if (segment < 0) return itemFromEnd(b, at, -segment)
  let n = 0
  for (const item of itemsAt(b, at)) if (n++ === segment) return item
  return null
}

/** @param place 1 = the last item */
function itemFromEnd(b: Buffer, at: number, place: number): BytePlace | null {
  const last: BytePlace[] = []
  for (const item of itemsAt(b, at)) if (last.push(item) > place) last.shift()
  return last.length < place ? null : (last[0] as BytePlace)
}

/**
 * The place of the value at a path; null when there is none. A number names an item of an array, where it is negative
 * counted from its end, or a key of an object;
 * of members that come again the first counts, as in the engine.
 */
export function placeOf(b: Buffer, path: readonly (string | number)[]): BytePlace | null {
  const start = skipByteSpace(b, 0)
  if (start >= b.length) return null
  let place: BytePlace = { start, end: byteValueEnd(b, start) }
  for (const segment of path) {
    const child = childOf(b, place.start, segment)
    if (child === null) return null
    place = child
  }
  return place
}
