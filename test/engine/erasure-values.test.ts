// Indexed values of erased payloads leave the files of the field index, while those of others in the same rows stay or
// are derived anew.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { statement } from '../../services/core/store/statements.ts'
import { unlimited } from '../../services/derived/budget.ts'
import { createRowRemoval } from '../../services/removal/rows.ts'
import {
  baseUs,
  type CallWorld,
  complete,
  createCallWorld,
  end,
  project,
  rename,
  start,
} from '../fixtures/call-world.ts'

let world: CallWorld
let applied = 0
let recounted: number[] = []
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world?.remove())

const apply = async (...parts: Parameters<CallWorld['apply']>[0]): Promise<void> => {
  await world.apply(parts)
  applied++
}
const removal = () =>
  createRowRemoval({
    store: world.store,
    budget: unlimited,
    betweenDerivations: (job) => job(),
    async recount({ fromUs: from, beforeExclusiveUs: before }) {
      recounted.push(from)
      const range = { partition: 0, position: applied + 1, from, before }
      await world.store.command(statement('dirty-buckets-of-range', range))
    },
  })
async function erase(...ids: string[]): Promise<void> {
  recounted = []
  const { times } = await removal().removeParts(project, ids)
  await removal().removeValues(new Map([[project, new Set(times)]]))
}
/** Rows of a table of the field index, removed ones included, by what they say. */
const rowsOf = (table: string, columns: string) =>
  world.store.rows<Record<string, unknown>>({
    name: 'test',
    sql: `SELECT ${columns} FROM callhouse.${table} ORDER BY ALL SETTINGS apply_deleted_mask = 0`,
    params: {},
  })
const values = async (): Promise<string[]> =>
  (await rowsOf('payload_leaves', 'path, arrayJoin(arrayConcat(str, arrayMap(n -> toString(n), num))) AS value')).map(
    ({ path, value }) => `${path} ${value}`,
  )
const chunks = async (): Promise<unknown[]> =>
  (await rowsOf('payload_chunks', 'DISTINCT toString(chunk) AS chunk')).map(({ chunk }) => chunk)
const found = async (value: string): Promise<string[]> => {
  const query = { $expr: { $eq: [{ $getField: 'inputs.who' }, { $literal: value }] } }
  return (await world.list({ columns: ['id'], query })).map(({ id }) => id)
}

it('values of erased payloads go alone, with rows that only they had, and nothing is derived anew', async () => {
  await apply(
    complete('gone', { startedUs: baseUs + 1, inputs: '{"who":"canary","n":7,"own":{"secret":1},"list":[]}' }),
    complete('stays', { startedUs: baseUs + 2, inputs: '{"who":"other","n":8,"list":[1]}' }),
    start('apart', { startedUs: baseUs + 3, inputs: '{"who":"apart"}' }),
  )
  await apply(end('apart', { payloadUs: baseUs + 7_200_000_000, output: '{"end":"of apart"}' }))
  await world.derive()
  const before = await chunks()
  await erase('gone')
  expect(await values()).toEqual(['inputs.n 8', 'inputs.who apart', 'inputs.who other', 'output.end of apart'])
  const rows = await rowsOf('payload_leaves', 'path, length(at) AS times')
  expect(rows.map(({ path, times }) => `${path} ${times}`).filter((row) => row.startsWith('inputs.'))).toEqual([
    'inputs.list 1',
    'inputs.n 1',
    'inputs.who 1',
    'inputs.who 1',
  ])
  expect([await chunks(), recounted]).toEqual([before, []])
  expect([await found('other'), await found('canary')]).toEqual([['stays'], []])
  await erase('apart')
  expect(await values()).toEqual(['inputs.n 8', 'inputs.who other'])
})

it('a payload at the time of an erased one is found at any moment, and is indexed anew', async () => {
  await apply(
    complete('taken', { startedUs: baseUs + 60_000_000, inputs: '{"who":"same moment"}' }),
    complete('left', { startedUs: baseUs + 60_000_000, inputs: '{"who":"same moment","x":1}' }),
  )
  await world.derive()
  await erase('taken')
  expect(recounted).toEqual([baseUs, baseUs])
  expect((await values()).filter((value) => value.includes('moment'))).toEqual([])
  expect(await found('same moment')).toEqual(['left'])
  await apply(rename('left', 'again'))
  await world.derive()
  expect((await values()).filter((value) => value.includes('moment'))).toEqual(['inputs.who same moment'])
  expect(await found('same moment')).toEqual(['left'])
})

it('a removal of values that broke off is finished by the next, though removed payloads are merged away', async () => {
  await apply(complete('twice', { startedUs: baseUs + 120_000_000, inputs: '{"who":"twice"}' }))
  await world.derive()
  await removal().removeParts(project, ['twice'])
  await removal().rewriteFiles(false)
  expect(await values()).toContain('inputs.who twice')
  await erase('twice')
  expect(await values()).not.toContain('inputs.who twice')
})
