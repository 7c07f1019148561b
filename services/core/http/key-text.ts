// The text of a key: `chk_`, 12 characters that name it, 32 that are secret, and 6 that tell a typing error at once.
import { createHash, randomInt } from 'node:crypto'
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

export function newKeyText(): { id: string; text: string } {
  const id = random(idLength)
  const unchecked = prefix + id + random(secretLength)
  return { id, text: unchecked + checkOf(unchecked) }
}

/** The id in a key's text; null when it is not well formed, undefined when it is a key of another form. */
export function idIn(text: string): string | null | undefined {
  if (!text.startsWith(prefix)) return undefined
  const end = text.length - checkLength
  if (!form.test(text) || checkOf(text.slice(0, end)) !== text.slice(end)) return null
  return text.slice(prefix.length, prefix.length + idLength)
}

export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
