// JSON as texts: members of an object as they are spelled, and the same put together again, so that nothing is respelled.
import { kindAt, membersAt, skipSpace, skipValue, stringAt, textBetween } from './json-index.ts'

/** A name and the JSON of its value. */
export type Member = readonly [name: string, text: string]

/** Members of the object that begins at `at`; of one that is none, nothing. The last of equal names counts. */
export function membersIn(bytes: Uint8Array, at: number): Member[] {
  if (kindAt(bytes, at) !== 'object') return []
  const { count, keys, starts, ends } = membersAt(bytes, at)
  const found = new Map<string, string>()
  for (let n = 0; n < count; n++) {
    const key = keys[n] as number
    found.set(stringAt(bytes, key, skipValue(bytes, key)), textBetween(bytes, starts[n] as number, ends[n] as number))
  }
  return [...found]
}

/** Elements of an array as they are spelled. */
function itemsIn(bytes: Uint8Array, at: number): string[] {
  if (kindAt(bytes, at) !== 'array') return []
  const { count, starts, ends } = membersAt(bytes, at)
  return Array.from({ length: count }, (_, n) => textBetween(bytes, starts[n] as number, ends[n] as number))
}

const encoded = (text: string): [bytes: Uint8Array, at: number] => {
  const bytes = new TextEncoder().encode(text)
  return [bytes, skipSpace(bytes, 0)]
}
export const membersOfText = (text: string): Member[] => membersIn(...encoded(text))
export const itemsOfText = (text: string): string[] => itemsIn(...encoded(text))

export const objectText = (members: readonly Member[]): string =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

/** The object with one member replaced, or added behind the others. */
export function withMember(text: string, name: string, value: string): string {
  const members = membersOfText(text)
  const place = members.findIndex(([one]) => one === name)
  return objectText(place < 0 ? [...members, [name, value]] : members.with(place, [name, value]))
}

/** The text for people: strings as their characters, everything else as it is spelled. */
export function plainText(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}

/** The fault of a text that should be JSON; undefined when there is none. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'Not valid JSON'
  }
}

const opens = new Set(['{', '['])
const closes = new Set(['}', ']'])
/** A string, a bracket, a comma, a colon, or a number or word. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** JSON by lines, two spaces deep, with the spelling of each scalar. */
export function prettyJson(text: string): string {
  let out = ''
  let depth = 0
  let last = ''
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(tokens)) {
    if (closes.has(token)) {
      depth--
      if (!opens.has(last)) out += line()
    } else if (opens.has(last)) out += line()
    out += token
    if (opens.has(token)) depth++
    else if (token === ',') out += line()
    else if (token === ':') out += ' '
    last = token
  }
  return out
}
