// Finds credentials that stand in a text: keys of known makers, bearer tokens, JWTs, private keys, passwords in addresses.
import { isSecretParameter } from './secret-names.ts'

type Hit = { start: number; end: number }

type Maker = {
  prefix: string
  rest: RegExp
  /** Whether a prefix and the letters before it make a word; by default never. */
  isWord?(before: string, rest: string): boolean
  /** Text that follows where there is no key. */
  none?: RegExp
}

/** `task-`, `disk-`, and whatever has no digit behind it. */
const isWordInSk = (before: string, rest: string): boolean => /[aeiou]/i.test(before) || !/\d/.test(rest)

/** Prefixes of the keys of makers, and their further characters: the rest is as long as it gets. */
const makers: Maker[] = [
  { prefix: 'sk-', rest: /[\w-]{20,}/y, isWord: isWordInSk },
  ...['p', 'o', 'u', 's', 'r'].map((kind) => ({ prefix: `gh${kind}_`, rest: /[A-Za-z\d]{36,}/y })),
  { prefix: 'github_pat_', rest: /\w{22,}/y },
  { prefix: 'AKIA', rest: /[A-Z\d]{16}(?![A-Za-z\d])/y },
  { prefix: 'ASIA', rest: /[A-Z\d]{16}(?![A-Za-z\d])/y },
  { prefix: 'AIza', rest: /[\w-]{35}/y },
  ...[...'abeoprs'].map((kind) => ({ prefix: `xox${kind}-`, rest: /[A-Za-z\d-]{10,}/y })),
  { prefix: 'glpat-', rest: /[\w-]{20,}/y },
  { prefix: 'hf_', rest: /[A-Za-z\d]{30,}/y },
  { prefix: 'npm_', rest: /[A-Za-z\d]{36}/y },
  { prefix: 'chk_', rest: /[A-Za-z\d]{50}/y },
  { prefix: 'eyJ', rest: /[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){0,3}/y, none: /[\w-]*/y },
]

function findMakers(text: string, hits: Hit[]): void {
  for (const { prefix, rest, isWord, none } of makers) {
    let after = 0
    for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + prefix.length)) {
      const before = text.charAt(at - 1)
      if (at < after || /[\d-]/.test(before)) continue
      rest.lastIndex = at + prefix.length
      if (!rest.test(text)) {
        if (none === undefined) continue
        none.lastIndex = at
        none.test(text)
        after = none.lastIndex
        continue
      }
      after = rest.lastIndex
      if (/[A-Za-z]/.test(before) && isWord?.(before, text.slice(at, after))) continue
      hits.push({ start: at, end: after })
    }
  }
}

const begin = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const end = /-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

/** Finds private keys, from the first line to the last one; a key that was cut off goes to the end of the text. */
function findPrivateKeys(text: string, hits: Hit[]): void {
  begin.lastIndex = 0
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    end.lastIndex = begin.lastIndex
    const last = end.exec(text) === null ? text.length : end.lastIndex
    hits.push({ start: found.index, end: last })
    begin.lastIndex = last
  }
}

const bearer = /\bbearer[ :]+(?=[\w.~+/=-]{20})/gi
const bearerToken = /[\w.~+/=-]+/y

function findBearers(text: string, hits: Hit[]): void {
  for (const { index, 0: found } of text.matchAll(bearer)) {
    bearerToken.lastIndex = index + found.length
    bearerToken.test(text)
    hits.push({ start: index + found.length, end: bearerToken.lastIndex })
  }
}

/** Longest user name or password that is looked for in an address. */
const maxCredential = 256
const authority = new RegExp(`[^\\s/:@"'?#]{0,${maxCredential}}:([^\\s/@"'?#]{1,${maxCredential}})@`, 'y')

function findPasswords(text: string, hits: Hit[]): void {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    authority.lastIndex = at + 3
    const found = authority.exec(text)
    if (found === null) continue
    const last = authority.lastIndex - 1
    hits.push({ start: last - (found[1] as string).length, end: last })
  }
}

const parameter = /[?&;#]([\w.~[\]-]{1,64})=(?=[^\s&#=$<{["'`;])/g
const parameterValue = /[^\s&#;"'`<>\\]+/y
/** A word of code, or of how an address is made: no secret stands there. */
const noValue = /^(?:true|false|null|undefined|none)$/i

/** Values of parameters whose names are those of secrets: `?password=`, `#access_token=`, `&sig=`. */
function findParameters(text: string, hits: Hit[]): void {
  for (const { index, 0: found, 1: name = '' } of text.matchAll(parameter)) {
    const start = index + found.length
    parameterValue.lastIndex = start
    if (!parameterValue.test(text)) continue
    const value = text.slice(start, parameterValue.lastIndex)
    if (noValue.test(value) || !isSecretParameter(name, value)) continue
    hits.push({ start, end: parameterValue.lastIndex })
  }
}

export function findTokens(text: string): Hit[] {
  const hits: Hit[] = []
  findMakers(text, hits)
  if (text.includes('-----BEGIN')) findPrivateKeys(text, hits)
  if (/bearer/i.test(text)) findBearers(text, hits)
  findPasswords(text, hits)
  if (text.includes('=')) findParameters(text, hits)
  return hits
}
