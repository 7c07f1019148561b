// The index of words comes and goes with the setting, and what it leaves to be read holds every match.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql, systemQuery } from '../../services/core/store/sql.ts'
import type { Store } from '../../services/core/store/store.ts'
import { keepWordIndex } from '../../services/operations/word-index.ts'
import { mayHoldText } from '../../services/query/calls/conditions/word-index.ts'
import { runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
const documents: Record<string, string> = {
  plain: '{"a":"a zebra here"}',
  inside: '{"a":"xZEBRAs"}',
  escaped: '{"a":"z\\u0065bra"}',
  key: '{"zebra":1}',
  nothing: '{"a":"horse"}',
  word: '{"a":[true,null]}',
}

beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
  const rows = Object.entries(documents).map(([id, inputs]) => JSON.stringify({ id, inputs }))
  await store.command({
    name: 'test',
    // Derived columns need the other columns in the block.
    sql: `INSERT INTO callhouse.payloads (project_id, at, id, part, clock, inputs, summary, otel_dump)
      SELECT 'e/p', now64(6), id, 'both', 1, inputs, '', ''
      FROM format(JSONEachRow, 'id String, inputs String', {rows:String})`,
    params: { rows: rows.join('\n') },
  })
})
afterAll(() => remove())

const indexes = async () =>
  (
    await store.rows<{ name: string }>({
      name: 'test',
      sql: "SELECT name FROM system.data_skipping_indices WHERE table = 'payloads' ORDER BY name",
      params: {},
    })
  ).map(({ name }) => name)

const held = async (text: string): Promise<string[]> => {
  const condition = mayHoldText('inputs', text)
  if (condition === null) throw new Error('the index cannot tell')
  const query = systemQuery('test', sql`SELECT id FROM callhouse.payloads WHERE ${condition} ORDER BY id`)
  return (await store.rows<{ id: string }>(query)).map(({ id }) => id)
}

describe('the index of words', () => {
  it('goes while what is stored may still be indexed', async () => {
    for (let n = 0; n < runs(2, 20); n++) {
      await keepWordIndex(store, true)
      await keepWordIndex(store, false)
    }
    expect(await indexes()).toEqual([])
  })

  it('follows the setting', async () => {
    const passes = async () => {
      expect(await held('zebra')).toEqual(['escaped', 'inside', 'key', 'plain'])
      expect(await held('A Zebra')).toEqual(['escaped', 'inside', 'key', 'plain'])
      expect(await held('true')).toEqual(['escaped', 'word'])
    }
    await keepWordIndex(store, true)
    expect(await indexes()).toEqual(['inputs_words', 'output_words'])
    await passes()
    await keepWordIndex(store, true)
    await keepWordIndex(store, false)
    expect(await indexes()).toEqual([])
  })

  it('says nothing about texts without three letters in a row', () => {
    for (const text of ['', 'ab', '12345', 'a1b2c3', 'é-é', ',":']) expect(mayHoldText('inputs', text)).toBeNull()
  })
})
