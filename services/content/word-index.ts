// The index over words of payloads: there or not as the setting says, and the condition that it can answer.
import { identifier, param, type Sql, sql } from '../core/store/sql.ts'
import type { Query, Store } from '../core/store/store.ts'

/** Documents with an index. */
const documents = ['inputs', 'output'] as const
export type IndexedDocument = (typeof documents)[number]

const nameOf = (document: IndexedDocument): string => `${document}_words`
const alter = (change: string): Query => ({
  name: 'word-index',
  sql: `ALTER TABLE callhouse.payloads ${change}`,
  params: {},
})

/** Adds or drops the indexes. What is stored already is indexed in the background; until then it is scanned. */
export async function keepWordIndex(store: Pick<Store, 'rows' | 'command'>, isWanted: boolean): Promise<void> {
  const rows = await store.rows<{ name: string }>({
    name: 'word-index',
    sql: `SELECT name FROM system.data_skipping_indices WHERE database = currentDatabase() AND table = 'payloads'`,
    params: {},
  })
  const present = new Set(rows.map(({ name }) => name))
  for (const document of documents) {
    const name = nameOf(document)
    if (present.has(name) === isWanted) continue
    if (isWanted) {
      // Parts of three characters, because a substring may begin and end inside a word.
      await store.command(alter(`ADD INDEX IF NOT EXISTS ${name} lower(${document}) TYPE text(tokenizer = ngrams(3))`))
      await store.command(alter(`MATERIALIZE INDEX ${name} SETTINGS mutations_sync = 0`))
    } else {
      // An index that is still being built cannot be dropped.
      await store.command({
        name: 'word-index',
        sql: `KILL MUTATION WHERE database = currentDatabase() AND table = 'payloads' AND NOT is_done
          AND command LIKE '%MATERIALIZE INDEX ${name}%'`,
        params: {},
      })
      await store.command(alter(`DROP INDEX IF EXISTS ${name} SETTINGS mutations_sync = 0`))
    }
  }
}

/** How an escape of any character begins in a document, in lower case. */
const escapes = [...'0123456789abcdef'].map((digit) => `\\u${digit}`)

export const isIndexed = (document: string): document is IndexedDocument =>
  (documents as readonly string[]).includes(document)

/**
 * Condition on a document that every one passes in which a text occurs, in whatever spelling; null when the text has
 * no run of three letters. To be asked only where the index is: it says what a token is. Letters occur in strings and words of JSON alone, and never from one to the next.
 */
export function mayHoldText(document: IndexedDocument, text: string): Sql | null {
  const runs = text.toLowerCase().match(/[a-z]{3,}/g) ?? []
  const tokens = new Set(runs.flatMap((run) => Array.from(run.slice(2), (_, i) => run.slice(i, i + 3))))
  if (tokens.size === 0) return null
  const lower = sql`lower(${identifier(document)})`
  return sql`(hasAllTokens(${lower}, ${param('Array(String)', [...tokens])})
    OR hasAnyTokens(${lower}, ${param('Array(String)', escapes)}))`
}
