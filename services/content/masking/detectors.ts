// Detectors of personal and secret texts. Each looks outwards from an anchor, in time that grows with the text's length.
import { isIPv6 } from 'node:net'
import type { maskDetectors } from '../../../schemas/mask-rules.ts'
import { addressNameEndings, secretNameEndings } from './secret-names.ts'
import { findTokens } from './tokens.ts'

/** Place of a finding. */
export type Hit = { start: number; end: number }

/** @param key normalised name of the member that holds the text, '' without one */
export type Find = (text: string, key: string) => Hit[]

/** Matches of an expression whose matches cannot overlap, those that `accepts` takes. */
function matches(text: string, expression: RegExp, accepts: (hit: Hit, found: string) => boolean): Hit[] {
  const hits: Hit[] = []
  for (const { index, 0: found } of text.matchAll(expression)) {
    const hit = { start: index, end: index + found.length }
    if (accepts(hit, found)) hits.push(hit)
  }
  return hits
}

const isWordAt = (text: string, at: number): boolean => /[\p{L}\p{N}_]/u.test(text.charAt(at))

const localPart = /[\p{L}\p{N}!#$%&*+=?^_`{|}~.-]/u
const domainPart = /[\p{L}\p{N}.-]/u
const maxLocal = 64
const maxDomain = 255
/** Names of files such as `logo@2x.png` look like addresses; domains end so nowhere. */
const fileEndings = new Set(
  'css csv gif gz html ico jpeg jpg js json jsx mjs mp3 mp4 pdf png svg toml ts tsx txt webp whl yaml yml'.split(' '),
)
/** Ends of domains that are ends of files, too. */
const sharedEndings = new Set('cc map md mov pl pm ps py rs sh so zip'.split(' '))
/** The size of a picture, or a version: `logo@2x.zip`, `pkg@1.0.rs`, `lib@v2.md`. */
const sizeOrVersion = /^v?\d+(?:[xk]|\.|$)/i

/** Whether a domain with an end of files is one: behind a path stands a file. */
const isDomain = (text: string, localStart: number, from: number, firstLabel: string): boolean =>
  !/[/\\]/.test(text.charAt(localStart - 1)) &&
  !sizeOrVersion.test(firstLabel) &&
  /[\p{L}\p{N}]/u.test(text.charAt(from))

/** @param localStart where what stands before the sign begins */
function domainEnd(text: string, localStart: number, from: number): number {
  let end = from
  while (end < text.length && end - from < maxDomain && domainPart.test(text.charAt(end))) end++
  while (end > from && /[.-]/.test(text.charAt(end - 1))) end--
  const labels = text.slice(from, end).split('.')
  const last = labels.at(-1) as string
  const fits = labels.length > 1 && labels.every((label) => label !== '' && !label.startsWith('-'))
  if (!fits || !/^(?:\p{L}{2,}|xn--[a-z\d-]+)$/iu.test(last)) return from
  const ending = last.toLowerCase()
  if (fileEndings.has(ending)) return from
  return !sharedEndings.has(ending) || isDomain(text, localStart, from, labels[0] as string) ? end : from
}

/** Whether an address is a repository's: `git@github.com:owner/name`. */
const isRemote = (text: string, start: number, at: number, end: number): boolean =>
  text.slice(start, at) === 'git' && text.charAt(end) === ':' && isWordAt(text, end + 1)

/** Signs of addresses: plain, or escaped in other addresses, where `=` and `&` are no part of it. */
const signs = [
  { sign: '@', local: localPart },
  { sign: '%40', local: /[\p{L}\p{N}_.+~%-]/u },
]

function findEmails(text: string): Hit[] {
  const hits: Hit[] = []
  for (const { sign, local } of signs) {
    let after = 0
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
      const from = at + sign.length
      let start = at
      while (start > after && at - start < maxLocal && local.test(text.charAt(start - 1))) start--
      while (start < at && !/[\p{L}\p{N}]/u.test(text.charAt(start))) start++
      const end = start === at || text.charAt(at - 1) === '.' ? from : domainEnd(text, start, from)
      if (end <= from || isRemote(text, start, at, end)) continue
      hits.push({ start, end })
      after = end
    }
  }
  return hits
}

/** Whether a run of digits and separators stands by itself: a longer number, a hash or a UUID goes on beside it. */
function standsAlone(text: string, { start, end }: Hit): boolean {
  const before = text.charAt(start - 1)
  const after = text.charAt(end)
  if (isWordAt(text, start - 1) || isWordAt(text, end)) return false
  if (/[-./+]/.test(before) && isWordAt(text, start - 2)) return false
  return !(/[-./+]/.test(after) && isWordAt(text, end + 1))
}

/** Leading digits of the issuers of cards, and how many digits their numbers have. */
const issuers: [RegExp, number[]][] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[689])/, [14, 16, 19]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^35(?:2[89]|[3-8]\d)/, [16, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:50|5[6-8]|6[1379])/, [13, 15, 16, 19]],
]

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let n = 0; n < digits.length; n++) {
    const digit = Number(digits[digits.length - 1 - n])
    const added = n % 2 === 0 ? digit : digit * 2
    sum += added > 9 ? added - 9 : added
  }
  return sum % 10 === 0
}

const firstMs = Date.UTC(2015, 0)
const lastMs = Date.UTC(2040, 0)
const isTime = (digits: string): boolean => digits.length === 13 && Number(digits) >= firstMs && Number(digits) < lastMs

/** Names under which numbers count or name something. */
const numbersNoCard = /(?:id|time|timestamp)$/

const isCard = (digits: string): boolean =>
  issuers.some(([lead, lengths]) => lengths.includes(digits.length) && lead.test(digits)) &&
  passesLuhn(digits) &&
  !isTime(digits) &&
  !/^(\d)\1*$/.test(digits)

/** A longer number, letters behind a digit as hashes and UUIDs have them, or another part of a name. */
const goesOnBefore = /(?:\d|\d-?\p{L}+|[\p{L}\p{N}_][-./+])$/u
const goesOnBehind = /^(?:[\p{L}\p{N}]|[-./+][\p{L}\p{N}_])/u
/** Decimals of a number that is none but whole. */
const noDecimals = /^\.0+(?!\d)/
/** So much of what stands around a number tells whether it is a part of something. */
const aroundLength = 64

/** Whether a run of digits is no part of a longer number, a hash or a UUID: a word may stand right before it (`card_`, `PAN`). */
function isOwnNumber(text: string, { start, end }: Hit): boolean {
  const behind = text.slice(end, end + aroundLength).replace(noDecimals, '')
  return !goesOnBefore.test(text.slice(Math.max(0, start - aroundLength), start)) && !goesOnBehind.test(behind)
}

/** The cards among groups of digits that stand side by side: other numbers may stand before and behind one. */
function cardsAmong(groups: readonly Hit[], text: string): Hit[] {
  const digitsOf = groups.map(({ start, end }) => text.slice(start, end).replaceAll('-', ''))
  const hits: Hit[] = []
  for (let first = 0; first < groups.length; first++) {
    let digits = ''
    for (let last = first; last < groups.length && digits.length < 19; last++) {
      digits += digitsOf[last]
      if (digits.length < 13 || !isCard(digits)) continue
      const hit = { start: (groups[first] as Hit).start, end: (groups[last] as Hit).end }
      if (!isOwnNumber(text, hit)) continue
      hits.push(hit)
      first = last
      break
    }
  }
  return hits
}

function findCards(text: string, key: string): Hit[] {
  if (numbersNoCard.test(key)) return []
  return matches(text, /\d(?:[ -]?\d){12,}/g, () => true).flatMap(({ start, end }) => {
    const groups = matches(text.slice(start, end), /[^ ]+/g, () => true)
    return cardsAmong(
      groups.map((group) => ({ start: start + group.start, end: start + group.end })),
      text,
    )
  })
}

const phoneWords = ['phone', 'mobile', 'msisdn']
/** Ends of other words, too (`hotel`, `excel`): only behind what says whose it is. */
const phoneParts = ['tel', 'cell', 'fax']
const numbered = ['', 'no', 'number']
const withNumber = (words: readonly string[]): string[] =>
  words.flatMap((word) => numbered.map((rest) => `${word}${rest}`))
const phoneNames = withNumber([...phoneWords, ...phoneParts])
const phoneKey = new RegExp(
  `(?:${withNumber(phoneWords).join('|')})$|^(?:home|work|office|business|private|my|user|customer|contact|client|person|alt)?(?:${withNumber(phoneParts).join('|')})$`,
)
const digitsOf = (text: string): number => text.replace(/\D/g, '').length

function findPhones(text: string, key: string): Hit[] {
  if (phoneKey.test(key) && /^[\d ()./+-]{6,30}$/.test(text)) {
    const count = digitsOf(text)
    return count >= 6 && count <= 15 ? [{ start: 0, end: text.length }] : []
  }
  return matches(text, /\+[ (]?\d(?:[ ().-]{0,2}\d){7,}/g, (hit, found) => {
    const count = digitsOf(found)
    return (
      count <= 15 &&
      !isWordAt(text, hit.start - 1) &&
      !isWordAt(text, hit.end) &&
      !/[.:]\d/.test(text.slice(hit.end, hit.end + 2))
    )
  })
}

/** ISO 7064: the country and the check digits behind the rest, letters as numbers, leave 1. */
function passesMod97(iban: string): boolean {
  let rest = 0
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(letter, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const findIbans: Find = (text) =>
  matches(text, /(?<![\p{L}\p{N}_])[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}/gu, () => true).flatMap((hit) => {
    // The next word may follow in capitals: the number ends where it is one.
    for (let { end } = hit; end - hit.start >= 15; end--) {
      const digits = text.slice(hit.start, end).replaceAll(' ', '')
      const isWhole = !isWordAt(text, end) && text.charAt(end - 1) !== ' '
      if (isWhole && digits.length >= 15 && digits.length <= 34 && passesMod97(digits)) return [{ ...hit, end }]
    }
    return []
  })

const byte = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const v4 = new RegExp(`${byte}(?:\\.${byte}){3}`, 'g')
const versionKey = /version$/

function findIps(text: string, key: string): Hit[] {
  if (versionKey.test(key)) return []
  const fours = matches(
    text,
    v4,
    ({ start, end }) =>
      !isWordAt(text, start - 1) &&
      !isWordAt(text, end) &&
      text.charAt(start - 1) !== '.' &&
      text.charAt(start - 1) !== '-' &&
      !(text.charAt(end) === '.' && isWordAt(text, end + 1)),
  )
  const sixes = matches(
    text,
    /(?<![\w:.])[\da-f]{0,4}(?::[\da-f]{0,4}){2,}(?:\.\d{1,3}){0,3}/gi,
    ({ start, end }, found) => {
      const groups = found.split(':').filter((group) => group !== '').length
      return found.length <= 45 && groups >= 3 && !isWordAt(text, start - 1) && !isWordAt(text, end) && isIPv6(found)
    },
  )
  return [...fours, ...sixes]
}

const ssnNames = withNumber(['ssn', 'socialsecurity'])
const ssnKey = new RegExp(`(?:${ssnNames.join('|')})$`)
const findSsns: Find = (text, key) =>
  ssnKey.test(key)
    ? matches(text, /(?!000|666|9)\d{3}[- ]?(?!00)\d\d[- ]?(?!0000)\d{4}/g, (hit) => standsAlone(text, hit))
    : []

/** Kinds of what is found, by the name that stands in its place. */
export const detectors = {
  email: findEmails,
  card: findCards,
  token: findTokens,
  phone: findPhones,
  iban: findIbans,
  ip: findIps,
  us_ssn: findSsns,
} as const satisfies Record<(typeof maskDetectors)[number], Find>

/** Ends of the normalised names under which a detector finds more than elsewhere. */
export const detectorKeys: { [name in DetectorName]?: readonly string[] } = {
  phone: phoneNames,
  us_ssn: ssnNames,
  // Endings of parameters in addresses.
  token: [...secretNameEndings, ...addressNameEndings],
}

export type DetectorName = keyof typeof detectors

/** Detectors that may find something in the digits of a number. */
export const numericDetectors: ReadonlySet<string> = new Set<DetectorName>(['card', 'phone', 'us_ssn'])

/** Names of counts of tokens, which others reckon with. */
const countedTokens = /tokens?(?:count|counts|used|usage)?$/
const numberForm = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,2}))?$/i

/** Whether a text is a number in a spelling that shows its digits not plainly. */
export const isSpelledNumber = (text: string): boolean => /[.e]/i.test(text) && numberForm.test(text)

/** The decimal digits of a whole number, however it is spelled (`4.1e3`, `4100.0`); undefined for any other. */
function plainDigits(spelled: string): string | undefined {
  const [, whole, decimals = '', exponent = '0'] = numberForm.exec(spelled) ?? []
  if (whole === undefined) return undefined
  const digits = whole + decimals
  const point = whole.length + Number(exponent)
  if (point <= 0 || /[^0]/.test(digits.slice(point))) return undefined
  const plain = digits.slice(0, point).padEnd(point, '0')
  // A number of digits alone stays as it is.
  return digits === spelled ? plain : plain.replace(/^0+(?=\d)/, '')
}

/**
 * The texts that a number of JSON may stand for, those of digits alone first: `4111111111111111.0` is a card, and 12345678 a
 * number of social security whose first digit is 0. None where it counts tokens.
 */
export function numberTexts(spelled: string, key: string): string[] {
  if (countedTokens.test(key)) return []
  const digits = plainDigits(spelled)
  if (digits === undefined) return [spelled]
  const padded = ssnKey.test(key) && digits.length < 9 && digits.length > 6 ? digits.padStart(9, '0') : digits
  return padded === spelled ? [spelled] : [padded, spelled]
}
