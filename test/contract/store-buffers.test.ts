// Copies and marks that the embedded engine gathers in memory: no read misses a row, and none stays there after a settle.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/core/topics.ts'
import { createTestStore } from '../fixtures/store.ts'
import { callLine, linesOf } from './store-rows.ts'

const names = ['calls_by_id', 'calls_by_trace', 'calls_by_parent', 'turns', 'call_marks']
let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const insert = (lines: string[]) => store.insert(topics.calls, { bytes: [Buffer.from(linesOf(lines))] })
const command = (sql: string) => store.command({ name: 'test', sql, params: {} })
const number = async (sql: string): Promise<number> =>
  Number(
    (await store.rows<{ n: string }>({ name: 'test', sql: `SELECT toString((SELECT ${sql})) AS n`, params: {} }))[0]?.n,
  )
const inParts = (project: string, table: string) =>
  // a name in quotes is no table that is read
  number(`sum(rows) FROM system.parts WHERE database = 'callhouse' AND table = '${table}' AND active`).then(
    async (rows) => ({
      rows,
      ofProject: await number(`count() FROM callhouse.\`${table}\` WHERE project_id = '${project}'`),
    }),
  )

/** Runs until the others are done, again and again. */
async function beside<T>(work: Promise<T>, again: () => Promise<unknown>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await again()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return done
}

test('every read sees every row that was inserted before, while buffers are written out', async () => {
  const project = 'seen'
  await command('TRUNCATE TABLE callhouse.calls_batch')
  const rounds = async () => {
    for (let n = 1; n <= 25; n++) {
      const id = `c${n}`
      await insert([callLine({ project, id, parent: 'p' })])
      await command(`INSERT INTO callhouse.call_marks (project_id, position, minute) SELECT '${project}', ${n}, now()`)
      const ofProject = `WHERE project_id = '${project}'`
      const ofBatch = `(SELECT 'no' FROM callhouse.calls_batch WHERE id = 'none')`
      const seen = await Promise.all([
        number(`count() FROM callhouse.calls_by_id ${ofProject} AND id NOT IN ${ofBatch}`),
        number(`uniqExact(id) FROM callhouse.calls_by_id ${ofProject}`),
        number(`count() FROM callhouse.calls_by_trace FINAL ${ofProject}`),
        number(`uniqExact(id) FROM callhouse.calls_by_parent ${ofProject}`),
        number(`uniqExact(position) FROM callhouse.call_marks ${ofProject}`),
      ])
      expect(seen).toEqual(seen.map(() => n))
    }
  }
  await beside(rounds(), () => store.settle())
})

test('a settle leaves nothing in memory', async () => {
  const project = 'settled'
  await insert([callLine({ project, id: 'a', parent: 'p' })])
  await command(`INSERT INTO callhouse.call_marks (project_id, position, minute) SELECT '${project}', 1, now()`)
  // the buffer alone: its rows and those of its table are read together
  const held = async (table: string) =>
    (await number(`count() FROM callhouse.${table}_buffer WHERE project_id = '${project}'`)) -
    (await inParts(project, table)).ofProject
  expect(await held('calls_by_parent')).toBe(1)
  await store.settle()
  for (const table of names) expect([table, await held(table)]).toEqual([table, 0])
  expect((await inParts(project, 'call_marks')).ofProject).toBe(1)
})

test('rows of any number of months are written out', async () => {
  const monthUs = 31 * 86_400 * 1e6
  for (let year = 0; year < 15; year++)
    await insert(
      Array.from({ length: 12 }, (_, month) =>
        callLine({
          ...{ project: 'old', id: `${year}-${month}`, parent: 'p' },
          startedUs: 1_000_000_000_000_000 + (year * 12 + month) * monthUs,
        }),
      ),
    )
  await store.settle()
  const months = "uniqExact(toYYYYMM(started_at)) FROM callhouse.calls_by_parent WHERE project_id = 'old'"
  expect(await number(months)).toBe(180)
})

test('a buffer that could not be written out is the next time', async () => {
  const project = 'again'
  const table = 'ALTER TABLE callhouse.`calls_by_parent`'
  await command(`${table} ADD CONSTRAINT closed CHECK project_id != '${project}'`)
  await insert([callLine({ project, id: 'a', parent: 'p' })])
  await expect(store.settle()).rejects.toThrow()
  await expect(number('count() FROM callhouse.calls_by_parent FINAL')).rejects.toThrow()
  await command(`${table} DROP CONSTRAINT closed`)
  await store.settle()
  expect(await number(`count() FROM callhouse.calls_by_parent WHERE project_id = '${project}'`)).toBe(1)
})
