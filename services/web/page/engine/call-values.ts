// The values of a call that a filter can name: texts, numbers and truths of its payloads by their paths.
import { fieldOfPath, sentNameOf } from './completion.ts'
import { type Member, membersOfText, plainText } from './json-texts.ts'
import type { Literal } from './query-text.ts'

export type FieldValue = { path: string; value: Literal }

/** Longer texts do not become lines of a filter. */
const maxText = 400
/** Depth of names below `inputs` and the others. */
const maxDepth = 6
const maxValues = 100

/** A JSON text as a value that is written in a filter; undefined where it is none. */
export function literalOfJson(text: string): Literal | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text.startsWith('"')) {
    const plain = text.length > 6 * maxText ? undefined : plainText(text)
    return plain !== undefined && plain.length <= maxText ? plain : undefined
  }
  // Other numbers are not what JavaScript makes of them.
  return /^[-\d]/.test(text) && String(Number(text)) === text ? Number(text) : undefined
}

/** Fields of payloads that a filter and the address of a list can name. */
export const isField = (path: string): boolean => fieldOfPath(path) === path && !path.includes(',')

/** The order of values by likelihood: metadata, what went in and out, then what else a call or its span has. */
const order = [
  /^metadata\./,
  /^(?:inputs|output)\b/,
  /^attributes\.(?!otel_span\.|weave\.)|^(?!attributes\.|summary\b)/,
]
const placeOf = ({ path }: FieldValue): number => {
  const place = order.findIndex((form) => form.test(sentNameOf(path)))
  return place < 0 ? order.length : place
}

/** @param members paths of a call and their JSON: `inputs.question`, `attributes` */
export const fieldValues = (members: readonly Member[]): FieldValue[] =>
  valuesBelow(members, 0).sort((a, b) => placeOf(a) - placeOf(b))

function valuesBelow(members: readonly Member[], depth: number): FieldValue[] {
  const found: FieldValue[] = []
  for (const [path, text] of members) {
    if (found.length >= maxValues) break
    // A point within a name would be read as two names.
    if (!isField(path) || path.split('.').length > depth + 2) continue
    if (text.startsWith('{')) {
      const own = depth < maxDepth ? membersOfText(text) : []
      const below = own.map(([name, value]) => [`${path}.${name}`, value] as const)
      found.push(...valuesBelow(below, depth + 1))
    } else {
      const value = literalOfJson(text)
      if (value !== undefined) found.push({ path, value })
    }
  }
  return found.slice(0, maxValues)
}

/**
 * Values under the names that programs sent. One that lies in two places, in a call and in its span, is listed once; where
 * the places differ, the further ones keep their paths.
 */
export function sentValues(found: readonly FieldValue[]): (FieldValue & { name: string })[] {
  const first = new Map<string, Literal>()
  return found.flatMap(({ path, value }) => {
    const name = sentNameOf(path)
    const before = first.get(name)
    if (before === undefined) first.set(name, value)
    else if (before === value) return []
    return [{ path, value, name: before === undefined ? name : path }]
  })
}
