// Rewrites a JSON text: values may be replaced by strings, everything else keeps its spelling.

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

const space = /[ \t\n\r]*/y
const plain = /[^"\\]*"/y
const scalar = /[^,\]} \t\n\r]+/y

function skip(expression: RegExp, json: string, from: number): number {
  expression.lastIndex = from
  return expression.test(json) ? expression.lastIndex : from
}

/** Index after the quote that ends the string whose first quote is at `from`. */
function stringEnd(json: string, from: number): number {
  plain.lastIndex = from + 1
  if (plain.test(json)) return plain.lastIndex
  for (let quote = json.indexOf('"', from + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0
    while (json.charCodeAt(quote - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return quote + 1
  }
  throw new Error('not a JSON text')
}

const textOf = (raw: string): string => (raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1))

/** @param json text that JSON.parse accepts; @returns the same text where nothing is replaced */
export function maskJson<Place>(json: string, place: Place, visitor: Visitor<Place>): string {
  let out = ''
  let copied = 0
  const replace = (start: number, end: number, by: string): number => {
    out += json.slice(copied, start) + JSON.stringify(by)
    copied = end
    return end
  }

  /** Index after the value, without looking at its parts. */
  function passOver(from: number): number {
    let depth = 0
    for (let i = from; i < json.length; ) {
      const c = json.charCodeAt(i)
      if (c === 34) i = stringEnd(json, i)
      else if (c === 123 || c === 91) {
        depth++
        i++
      } else if (c === 125 || c === 93) {
        depth--
        i++
      } else i = c === 44 || c === 58 || c <= 32 ? i + 1 : skip(scalar, json, i)
      if (depth === 0) return i
    }
    throw new Error('not a JSON text')
  }

  function members(from: number, at: Place, isObject: boolean): number {
    let i = skip(space, json, from + 1)
    for (; json.charCodeAt(i) !== 125 && json.charCodeAt(i) !== 93; i = skip(space, json, i)) {
      if (json.charCodeAt(i) === 44) i = skip(space, json, i + 1)
      if (!isObject) {
        i = value(i, at)
        continue
      }
      const end = stringEnd(json, i)
      const name = textOf(json.slice(i, end))
      i = value(skip(space, json, skip(space, json, end) + 1), visitor.step(at, name))
    }
    return i + 1
  }

  function value(from: number, at: Place): number {
    const whole = visitor.value(at, () => json.slice(from, passOver(from)))
    if (whole !== null) return replace(from, passOver(from), whole)
    const c = json.charCodeAt(from)
    if (c === 123 || c === 91) return members(from, at, c === 123)
    if (c === 34) {
      const end = stringEnd(json, from)
      const kept = visitor.string(at, textOf(json.slice(from, end)))
      return kept === null ? end : replace(from, end, kept)
    }
    const end = skip(scalar, json, from)
    if (c !== 45 && (c < 48 || c > 57)) return end
    const kept = visitor.number(at, json.slice(from, end))
    return kept === null ? end : replace(from, end, kept)
  }

  value(skip(space, json, 0), place)
  return copied === 0 ? json : out + json.slice(copied)
}
