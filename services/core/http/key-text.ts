// The text of a key: `chk_`, 12 characters that name it, 32 that are secret, and 6 that tell a typing error at once.
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'chk_'
const idLength = 12
const secretLength = 32
const checkLength = 6
const form = /^chk_[0-9A-Za-z]{50}$/

const random = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)] as string).join('')

/** CRC-32 of a text in base 62, as GitHub's tokens end. */
function checkOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let n = 0; n < checkLength; n++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const valueOfCode = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, alphabet.indexOf(String.fromCharCode(code))),
)

/** The same as a number, without a text of it: every request is checked. */
function endsInItsCheck(text: string): boolean {
  const end = text.length - checkLength
  let said = 0
  for (let at = end; at < text.length; at++) said = said * 62 + (valueOfCode[text.charCodeAt(at)] as number)
  return said === crc32(text.slice(0, end))
}

export function newKeyText(): { id: string; text: string } {
  const id = random(idLength)
  const unchecked = prefix + id + random(secretLength)
  return { id, text: unchecked + checkOf(unchecked) }
}

/** The id in a key's text; null when it is not well formed, undefined when it is a key of another form. */
export function idIn(text: string): string | null | undefined {
  if (!text.startsWith(prefix)) return undefined
  if (!form.test(text) || !endsInItsCheck(text)) return null
  return text.slice(prefix.length, prefix.length + idLength)
}

/** In hexadecimal. */
export const digestOf = (text: string): string => hash('sha256', text, 'hex')

/** Compares two digests of one length, in the same time wherever they differ. */
export function isSameDigest(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
