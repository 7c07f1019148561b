// Rewrites a JSON text: values may be replaced by strings, everything else keeps its spelling.
import { scalarEnd, skipTextSpace, stringEnd, textOfString, valueEnd } from '../../core/json/text-walk.ts'

/** What is done with the values of a text. Each returns the new string, null to leave the value as it is. */
export type Visitor<Place> = {
  /** Where the member of an object lies. */
  step(place: Place, name: string): Place
  /** Looks at a whole value of any kind before its parts; `raw` is its JSON text. */
  value(place: Place, raw: () => string): string | null
  /** Looks at a string. */
  string(place: Place, text: string): string | null
  /** Looks at a number as it is spelled. */
  number(place: Place, text: string): string | null
}

/** @param json text that JSON.parse accepts; @returns the same text where nothing is replaced */
export function maskJson<Place>(json: string, place: Place, visitor: Visitor<Place>): string {
  let out = ''
  let copied = 0
  const replace = (start: number, end: number, by: string): number => {
    out += json.slice(copied, start) + JSON.stringify(by)
    copied = end
    return end
  }

  function members(from: number, at: Place, isObject: boolean): number {
    let i = skipTextSpace(json, from + 1)
    for (; json.charCodeAt(i) !== 125 && json.charCodeAt(i) !== 93; i = skipTextSpace(json, i)) {
      if (json.charCodeAt(i) === 44) i = skipTextSpace(json, i + 1)
      if (!isObject) {
        i = value(i, at)
        continue
      }
      const end = stringEnd(json, i)
      const name = textOfString(json.slice(i, end))
      i = value(skipTextSpace(json, skipTextSpace(json, end) + 1), visitor.step(at, name))
    }
    return i + 1
  }

  function value(from: number, at: Place): number {
    const whole = visitor.value(at, () => json.slice(from, valueEnd(json, from)))
    if (whole !== null) return replace(from, valueEnd(json, from), whole)
    const c = json.charCodeAt(from)
    if (c === 123 || c === 91) return members(from, at, c === 123)
    if (c === 34) {
      const end = stringEnd(json, from)
      const kept = visitor.string(at, textOfString(json.slice(from, end)))
      return kept === null ? end : replace(from, end, kept)
    }
    const end = scalarEnd(json, from)
    if (c !== 45 && (c < 48 || c > 57)) return end
    const kept = visitor.number(at, json.slice(from, end))
    return kept === null ? end : replace(from, end, kept)
  }

  value(skipTextSpace(json, 0), place)
  return copied === 0 ? json : out + json.slice(copied)
}
