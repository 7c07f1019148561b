// The text of a key: `chk_`, 12 characters that name it, 32 that are secret, and 6 that tell a typing error at once.
import { hash, randomInt } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'chk_'
const idLength = 12
const secretLength = 32
const checkLength = 6
const keyLength = prefix.length + idLength + secretLength + checkLength
const random = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)] as string).join('')

/** CRC-32 by byte. */
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})
/** Values of digits by character code; -1 = no digit in base 62. */
const valueOfCode = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)))

/** CRC-32 of the beginning of a text of ASCII: here and not from zlib, whose call takes longer than so few characters. */
function crcOf(text: string, end: number): number {
  let crc = -1
  for (let at = 0; at < end; at++) crc = (crcTable[(crc ^ text.charCodeAt(at)) & 0xff] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}

/** The check of a text in base 62, as GitHub's tokens end. */
function checkOf(text: string): string {
  let rest = crcOf(text, text.length)
  let digits = ''
  for (let n = 0; n < checkLength; n++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Every request is checked: without a regular expression, and without a text of the check. */
function isWellFormed(text: string): boolean {
  if (text.length !== keyLength) return false
  let said = 0
  for (let at = prefix.length; at < keyLength; at++) {
    const code = text.charCodeAt(at)
    const value = code < 128 ? (valueOfCode[code] as number) : -1
    if (value < 0) return false
    if (at >= keyLength - checkLength) said = said * 62 + value
  }
  return said === crcOf(text, keyLength - checkLength)
}

export function newKeyText(): { id: string; text: string } {
  const id = random(idLength)
  const unchecked = prefix + id + random(secretLength)
  return { id, text: unchecked + checkOf(unchecked) }
}

/** The id in a key's text; null when it is not well formed, undefined when it is a key of another form. */
export function idIn(text: string): string | null | undefined {
  if (!text.startsWith(prefix)) return undefined
  if (!isWellFormed(text)) return null
  return text.slice(prefix.length, prefix.length + idLength)
}

/** Digest in hexadecimal. */
export const digestOf = (text: string): string => hash('sha256', text, 'hex')

/** Compares two digests of one length, in the same time wherever they differ. */
export function isSameDigest(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
