// Variables of messages: names in single braces, as the server fills them.

const form = /(?<!\{)\{([A-Za-z_]\w*)\}(?!\})/g
const most = 50

/** Variables in the order of their first use. */
export function variableNames(texts: Iterable<string>): string[] {
  const names = new Set<string>()
  for (const text of texts) for (const [, name = ''] of text.matchAll(form)) names.add(name)
  return [...names].slice(0, most)
}

export type VariablePiece = { text: string; isVariable: boolean }

/** A text cut before and behind its variables, which keep their braces. */
export function variablePieces(text: string): VariablePiece[] {
  const pieces: VariablePiece[] = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(form)) {
    if (index > from) pieces.push({ text: text.slice(from, index), isVariable: false })
    pieces.push({ text: found, isVariable: true })
    from = index + found.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isVariable: false })
  return pieces
}
