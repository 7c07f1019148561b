// Rewrites a JSON text: values may be replaced by strings, everything else keeps its spelling.
import { scalarEnd, skipTextSpace, stringEnd, textOfString, valueEnd } from '../../core/json/text-walk.ts'

/** Visitor of the values of a text. Each returns the new string, null to leave the value as it is. */
export type Visitor<Place> = {
  /** Place of an object's member. */
  step(place: Place, name: string): Place
  /** Place of an object's value that another member of it names. */
  pair(place: Place, label: string): Place
  /** Looks at a whole value of any kind before its parts; `raw` is its JSON text. */
  value(place: Place, raw: () => string): string | null
  /** Looks at a string. */
  string(place: Place, text: string): string | null
  /** Looks at a number as it is spelled. */
  number(place: Place, text: string): string | null
}

/** Members that say together what one would: `{"name": "authorization", "value": …}`, in either order. */
const labels = new Set(['name', 'key', 'header', 'field'])
export const labelledName = 'value'
const longestLabel = 6
const maxLabel = 256
/** Strings that are looked at once more under their label: those that are found by a name are short. */
const maxShort = 64

type Replacement = { start: number; end: number; by: string }
/** Members of such a pair in an object. */
type Pair = { label?: string; from: number; end: number }

/** @param json text that JSON.parse accepts; @returns the same text where nothing is replaced */
export function maskJson<Place>(json: string, place: Place, visitor: Visitor<Place>): string {
  /** Replacements in their order, none within another. */
  const replaced: Replacement[] = []
  const replace = (start: number, end: number, by: string): number => {
    // Replacements within it go; later ones stay.
    let from = replaced.length
    while (from > 0 && (replaced[from - 1] as Replacement).start >= start) from--
    const behind = replaced.splice(from).filter((one) => one.start >= end)
    replaced.push({ start, end, by }, ...behind)
    return end
  }

  function isReplaced(start: number): boolean {
    let n = replaced.length - 1
    while (n >= 0 && (replaced[n] as Replacement).start > start) n--
    return replaced[n]?.start === start
  }

  /** Looks at the value of a pair under its label. */
  function underLabel({ label, from, end }: Pair, at: Place): void {
    if (label === undefined || end === 0) return
    const place = visitor.pair(at, label)
    const whole = visitor.value(place, () => json.slice(from, end))
    if (whole !== null) replace(from, end, whole)
    else if (end - from <= maxShort && !isReplaced(from)) alone(from, end, place)
  }

  function members(from: number, at: Place, isObject: boolean): number {
    const pair: Pair = { from: 0, end: 0 }
    let i = skipTextSpace(json, from + 1)
    for (; json.charCodeAt(i) !== 125 && json.charCodeAt(i) !== 93; i = skipTextSpace(json, i)) {
      if (json.charCodeAt(i) === 44) i = skipTextSpace(json, i + 1)
      if (!isObject) {
        i = value(i, at)
        continue
      }
      const end = stringEnd(json, i)
      const name = textOfString(json.slice(i, end))
      const start = skipTextSpace(json, skipTextSpace(json, end) + 1)
      i = value(start, visitor.step(at, name))
      if (name.length > longestLabel) continue
      const small = name.toLowerCase()
      if (small === labelledName) Object.assign(pair, { from: start, end: i })
      else if (labels.has(small) && json.charCodeAt(start) === 34 && i - start <= maxLabel)
        pair.label = textOfString(json.slice(start, i))
    }
    underLabel(pair, at)
    return i + 1
  }

  /** A string or a number. */
  function alone(from: number, end: number, at: Place): void {
    const c = json.charCodeAt(from)
    const text = json.slice(from, end)
    const isNumber = c === 45 || (c >= 48 && c <= 57)
    const kept = c === 34 ? visitor.string(at, textOfString(text)) : isNumber ? visitor.number(at, text) : null
    if (kept !== null) replace(from, end, kept)
  }

  function value(from: number, at: Place): number {
    const whole = visitor.value(at, () => json.slice(from, valueEnd(json, from)))
    if (whole !== null) return replace(from, valueEnd(json, from), whole)
    const c = json.charCodeAt(from)
    if (c === 123 || c === 91) return members(from, at, c === 123)
    const end = c === 34 ? stringEnd(json, from) : scalarEnd(json, from)
    alone(from, end, at)
    return end
  }

  value(skipTextSpace(json, 0), place)
  if (replaced.length === 0) return json
  let out = ''
  let copied = 0
  for (const { start, end, by } of replaced) {
    out += json.slice(copied, start) + JSON.stringify(by)
    copied = end
  }
  return out + json.slice(copied)
}
