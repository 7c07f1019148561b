// Regular expressions as clients write them, in JavaScript's spelling or in Python's, for checks in `u` mode.

const compiles = (source: string, flags: string): boolean => {
  try {
    return new RegExp(source, flags) !== null
  } catch {
    return false
  }
}

/**
 * Syntax that only Python knows: named groups, comments, atomic and conditional groups, flags, possessive quantifiers.
 */
const pythonOnly = /\(\?(?:P[<=>]|[#>(]|[aiLmsux]+[-):])|[*+?}]\+|\\[AZzN]/

const start = '(?<![^])'
const end = '(?![^])'
/** Escapes of one letter that mean the same in Python and in `u` mode. */
const sharedEscapes = new Set('dDwWsSbBnrtfvxupPkc')
const syntax = new Set('^$\\.*+?()[]{}|/')

/** Flags that JavaScript has as well; null when the pattern is written over several lines with comments. */
const sharedFlags = (flags: string): string | null =>
  flags.includes('x') ? null : [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('')

/** The escape at the place, and how many characters it is long. */
function escapeAt(text: string, at: number, inClass: boolean): [string, number] | null {
  const next = text[at + 1]
  if (next === undefined || next === 'N') return null
  if (!inClass && next === 'A') return [start, 2]
  if (!inClass && (next === 'Z' || next === 'z')) return [end, 2]
  if (next === 'a') return ['\\x07', 2]
  const wide = /^\\U([0-9a-fA-F]{8})/.exec(text.slice(at, at + 10))?.[1]
  if (wide !== undefined) return [`\\u{${wide}}`, 10]
  const octal = /^\\(0[0-7]{0,2})/.exec(text.slice(at, at + 4))?.[1]
  if (octal !== undefined) return [`\\x${Number.parseInt(octal, 8).toString(16).padStart(2, '0')}`, octal.length + 1]
  const isKept = sharedEscapes.has(next) || syntax.has(next) || /[1-9]/.test(next) || (inClass && next === '-')
  return [isKept ? `\\${next}` : next, 2]
}

/** A group's beginning, and how many characters it is long. */
function groupAt(text: string, at: number): [string, number] | null {
  const rest = text.slice(at)
  if (!rest.startsWith('(?')) return ['(', 1]
  const named = /^\(\?P<|^\(\?P=(\w+)\)/.exec(rest)
  if (named !== null) return named[1] === undefined ? ['(?<', named[0].length] : [`\\k<${named[1]}>`, named[0].length]
  if (rest.startsWith('(?#')) {
    const close = rest.indexOf(')')
    return close < 0 ? null : ['', close + 1]
  }
  const flags = /^\(\?([aiLmsux]*)(?:-([imsx]+))?:/.exec(rest)
  if (flags === null) return ['(?', 2]
  const [on, off] = [sharedFlags(flags[1] ?? ''), sharedFlags((flags[2] ?? '').replace('x', ''))]
  if (on === null || off === null) return null
  return [`(?${on}${off === '' ? '' : `-${off}`}:`, flags[0].length]
}

/** A class from its `[` on, and how many characters it is long. */
function classAt(text: string, at: number): [string, number] | null {
  let out = text[at + 1] === '^' ? '[^' : '['
  let i = at + out.length
  /** A set such as `\w`, which no range can begin or end with. */
  let isAfterSet = false
  for (; i < text.length && text[i] !== ']'; ) {
    const isSet = /^\\[dDwWsSpP]/.test(text.slice(i, i + 2))
    if (text[i] === '\\') {
      const escaped = escapeAt(text, i, true)
      if (escaped === null) return null
      out += escaped[0]
      i += escaped[1]
    } else {
      const isRange =
        text[i] === '-' && text[i + 1] !== ']' && (isAfterSet || /^\\[dDwWsSpP]/.test(text.slice(i + 1, i + 3)))
      out += isRange ? '\\-' : text[i]
      i++
    }
    isAfterSet = isSet
  }
  return i < text.length ? [`${out}]`, i + 1 - at] : null
}

function partAt(text: string, at: number): [string, number] | null {
  const character = text[at] as string
  if (character === '\\') return escapeAt(text, at, false)
  if (character === '[') return classAt(text, at)
  if (character === '(') return groupAt(text, at)
  if (character === '{') {
    const counts = /^\{(\d*)(,?)(\d*)\}/.exec(text.slice(at, at + 30))
    if (counts === null || (counts[1] === '' && counts[3] === '')) return ['\\{', 1]
    return [`{${counts[1] || '0'}${counts[2]}${counts[3]}}`, counts[0].length]
  }
  return character === '}' || character === ']' ? [`\\${character}`, 1] : [character, 1]
}

/** The same pattern for `u` mode; null when it has no like there, so that it cannot be checked. */
export function unicodePattern(text: string): string | null {
  if (compiles(text, 'u')) return text
  const first = /^\(\?([aiLmsux]+)\)/.exec(text)
  const flags = sharedFlags(first?.[1] ?? '')
  if (flags === null) return null
  let out = ''
  for (let at = first?.[0].length ?? 0; at < text.length; ) {
    const part = partAt(text, at)
    if (part === null) return null
    out += part[0]
    at += part[1]
  }
  const source = flags === '' ? out : `(?${flags}:${out})`
  return compiles(source, 'u') ? source : null
}

/** Whether a text is a pattern somewhere, checked here or not. */
export const isPattern = (text: string): boolean =>
  unicodePattern(text) !== null || compiles(text, '') || pythonOnly.test(text)
