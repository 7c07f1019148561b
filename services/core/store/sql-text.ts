// Finds the parts of a SQL text: code, strings and quoted names, comments, parameters; so that none is taken for another.

export type SqlSpan =
  | { kind: 'code' | 'quoted' | 'comment'; text: string }
  | { kind: 'parameter'; text: string; name: string; type: string }

// Alternatives in the order in which the engine's lexer tries them; a quote that matches none of them is unterminated.
const marked =
  /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`\\]*(?:\\[\s\S][^`\\]*)*`|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}|['"`]|\/\*/g

/** @throws Error when a string, name or comment has no end */
export function sqlSpans(sql: string): SqlSpan[] {
  const spans: SqlSpan[] = []
  let end = 0
  for (const match of sql.matchAll(marked)) {
    const [text, , name, type] = match
    if (text.length < 2 || text === '/*') throw new Error(`SQL text has an unterminated ${text}`)
    if (match.index > end) spans.push({ kind: 'code', text: sql.slice(end, match.index) })
    if (name !== undefined && type !== undefined) spans.push({ kind: 'parameter', text, name, type })
    else spans.push({ kind: text.startsWith('--') || text.startsWith('/*') ? 'comment' : 'quoted', text })
    end = match.index + text.length
  }
  if (end < sql.length) spans.push({ kind: 'code', text: sql.slice(end) })
  return spans
}

/** The statements of a text, without comments, trimmed; empty ones are left out. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = []
  let current = ''
  for (const { kind, text } of sqlSpans(sql)) {
    if (kind === 'comment') current += ' '
    else if (kind !== 'code') current += text
    else {
      const pieces = text.split(';')
      for (const piece of pieces.slice(0, -1)) {
        statements.push(current + piece)
        current = ''
      }
      current += pieces.at(-1)
    }
  }
  statements.push(current)
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}
