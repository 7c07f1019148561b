// Text that was recorded, made fit to be shown: what deceives or cannot be seen becomes a labelled mark.

export type Piece = string | { mark: string; code: string }

/** Bidi controls, zero-width characters, C0 and C1 without tab and line feed, lone surrogates. */
const deceiving = /(?![\t\n])\p{Cc}|[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\p{Cs}/gu
const manyMarks = /(\p{M}{8})\p{M}+/gu

const codeOf = (letter: string): string =>
  `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

const names: Record<string, string> = {
  '\u0000': 'NUL',
  '\u001b': 'ESC',
  '\r': 'CR',
  '\u200b': 'ZWSP',
  '\u200d': 'ZWJ',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
}

/** Emoji are joined by U+200D, and their parts by variation selectors: between two of them it deceives nobody. */
const joinsEmoji = (text: string, at: number): boolean =>
  text[at] === '\u200d' &&
  /\p{Extended_Pictographic}\ufe0f?[\u{1f3fb}-\u{1f3ff}]?$/u.test(text.slice(Math.max(0, at - 5), at))

export function piecesOf(text: string, max = 300): Piece[] {
  const cut = text.length > max ? text.slice(0, max) : text
  const shown = cut.replace(manyMarks, '$1')
  const pieces: Piece[] = []
  let from = 0
  for (const match of shown.matchAll(deceiving)) {
    const [letter] = match
    if (joinsEmoji(shown, match.index)) continue
    if (match.index > from) pieces.push(shown.slice(from, match.index))
    pieces.push({ mark: names[letter] ?? codeOf(letter), code: codeOf(letter) })
    from = match.index + letter.length
  }
  if (from < shown.length) pieces.push(shown.slice(from))
  if (text.length > max) pieces.push('…')
  return pieces
}

/** The same as one plain text, for titles and names that assistive technology reads. */
export const plainOf = (text: string, max = 300): string =>
  piecesOf(text, max)
    .map((piece) => (typeof piece === 'string' ? piece : `[${piece.mark}]`))
    .join('')
