// Where the values of a JSON text in bytes end, for texts that are known to be JSON. Nothing is checked: of a text that is cut
// off every value ends where it does. `tokens.ts` reads as strictly as JSON.parse.

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
