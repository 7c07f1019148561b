// The index over words of payloads comes and goes with a setting: it is made, or dropped, when a server starts.
import { type WordIndexedDocument, wordIndexedDocuments } from '../content/word-index.ts'
import type { Query, Store } from '../core/store/store.ts'

const nameOf = (document: WordIndexedDocument): string => `${document}_words`
const alter = (change: string): Query => ({
  name: 'word-index',
  sql: `ALTER TABLE callhouse.payloads ${change}`,
  params: {},
})

/** Adds or drops the indexes. Stored rows are indexed in the background; until then they are scanned. */
export async function keepWordIndex(store: Pick<Store, 'rows' | 'command'>, isWanted: boolean): Promise<void> {
  const rows = await store.rows<{ name: string }>({
    name: 'word-index',
    sql: `SELECT name FROM system.data_skipping_indices WHERE database = currentDatabase() AND table = 'payloads'`,
    params: {},
  })
  const present = new Set(rows.map(({ name }) => name))
  for (const document of wordIndexedDocuments) {
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
