// The condition that the index over words of payloads can answer.
import { type WordIndexedDocument, wordIndexedDocuments } from '../../../content/word-index.ts'
import { identifier, param, type Sql, sql } from '../../../core/store/sql.ts'

/** First bytes of an escape of any character in a document, in lower case. */
const escapes = [...'0123456789abcdef'].map((digit) => `\\u${digit}`)

export const isIndexed = (document: string): document is WordIndexedDocument =>
  (wordIndexedDocuments as readonly string[]).includes(document)

/**
 * Condition on a document that every one passes in which a text occurs, in whatever spelling; null when the text has
 * no run of three letters. To be asked only where the index is: it says what a token is. Letters occur in strings and words of JSON alone, and never from one to the next.
 */
export function mayHoldText(document: WordIndexedDocument, text: string): Sql | null {
  const runs = text.toLowerCase().match(/[a-z]{3,}/g) ?? []
  const tokens = new Set(runs.flatMap((run) => Array.from(run.slice(2), (_, i) => run.slice(i, i + 3))))
  if (tokens.size === 0) return null
  const lower = sql`lower(${identifier(document)})`
  return sql`(hasAllTokens(${lower}, ${param('Array(String)', [...tokens])})
    OR hasAnyTokens(${lower}, ${param('Array(String)', escapes)}))`
}
