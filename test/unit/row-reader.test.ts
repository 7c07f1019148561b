// Readers of rows: the engine's arrays by the names of their columns.
import { expect, it } from 'vitest'
import { render, sql } from '../../services/core/store/sql.ts'
import { rowReader } from '../../services/query/compact-rows.ts'

const reader = rowReader<{ id: string; startedUs: number; 'of "other"': string[] }>({
  id: sql`c.id`,
  startedUs: sql`toUnixTimestamp64Micro(c.started_at) AS us`,
  'of "other"': sql`[]`,
})
const answer = Buffer.from('["a",1,["x"]]\n["b",2,[]]\n')
const rows = [
  { id: 'a', startedUs: 1, 'of "other"': ['x'] },
  { id: 'b', startedUs: 2, 'of "other"': [] },
]

it('reads the columns in their order, and gives the values their names', () => {
  expect(render(reader.select).sql).toBe('c.id, toUnixTimestamp64Micro(c.started_at) AS us, []')
  expect(reader.rows(answer)).toEqual(rows)
  expect(reader.rows(Buffer.alloc(0))).toEqual([])
})

it('reads from a store, in the form that has arrays for rows', async () => {
  const asked: string[] = []
  const store = {
    bytes: async (_: unknown, format: string) => {
      asked.push(format)
      return answer
    },
  }
  expect(await reader.read(store, { name: 'test', sql: 'SELECT 1', params: {} }, {})).toEqual(rows)
  expect(asked).toEqual(['JSONCompactEachRow'])
})

it('makes plain objects, which may be copied and changed', () => {
  const [row] = reader.rows(answer)
  expect({ ...row, id: 'c' }).toEqual({ ...rows[0], id: 'c' })
})
