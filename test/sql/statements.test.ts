// Each file of clickhouse/statements is SQL that the engine reads, whatever is put into it, and says first what it is for.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createTestStore } from '../fixtures/store.ts'

const folder = fileURLToPath(new URL('../../clickhouse/statements', import.meta.url))
const files = globSync('*.sql', { cwd: folder }).sort()

/** Parts of statements; a condition for all others. */
const parts: Record<string, string> = {
  table: 'calls',
  month: '202601',
  id: 'id',
  n: '1',
  columns: 'id',
  assignments: 'id = id',
  text: 'val',
  us: '1',
  mask: '0',
  rows: '',
  counted: 'due AS (SELECT 1)',
  calls: 'SELECT 1',
  feedbackOfHeld: 'SELECT 1',
  started: 'SELECT 1',
  gone: 'SELECT 1',
  keys: 'SELECT 1',
  logs: 'SELECT 1',
  others: ' AND 1',
}

/** A statement; of a part of others one around it. */
function whole(file: string): string {
  const text = readFileSync(join(folder, file), 'utf8').replaceAll(/\$\{(\w+)\}/g, (_, part) => parts[part] ?? '1')
  const sql = text.replace(/^(?:--.*\n)+/, '')
  if (/^\s*\w+ AS\b/.test(sql)) return `WITH ${sql} SELECT 1`
  return /^(?:SELECT|INSERT|WITH|ALTER|DELETE|TRUNCATE|OPTIMIZE)\b/.test(sql) ? sql : `SELECT 1 WHERE ${sql}`
}

it('each statement begins with what it is for', () => {
  const silent = files.filter((file) => !readFileSync(join(folder, file), 'utf8').startsWith('-- '))
  expect(files.length).toBeGreaterThan(100)
  expect(silent).toEqual([])
})

it('the engine reads each statement', async () => {
  const { store, remove } = await createTestStore()
  const broken: string[] = []
  for (const file of files) {
    const query = {
      name: 'test.format',
      sql: 'SELECT formatQuery({text:String}) AS text',
      params: { text: whole(file) },
    }
    await store.rows(query).catch((error) => broken.push(`${file}: ${error}`))
  }
  await remove()
  expect(broken).toEqual([])
})
