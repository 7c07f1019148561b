// Agents that send all messages before a turn with it again: what is stored of them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { createRandom } from '../fixtures/random.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>

beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

/** A hundredth of all characters is random, so that no two messages look alike. */
function createMessage(seed: number): () => string {
  const random = createRandom(seed)
  const words = Array.from({ length: 3_000 }, () => random.below(2 ** 30).toString(36))
  return () => Array.from({ length: 120 }, () => words[random.below(words.length)]).join(' ')
}

it('50 turns of 16 agents at a time take a tenth of what was sent', async () => {
  const message = createMessage(3)
  const histories = Array.from({ length: 16 }, () => [message()])
  let sent = 0
  for (let turn = 0; turn < 50; turn++) {
    const rows = histories.map((history, agent) => {
      history.push(message(), message())
      const inputs = JSON.stringify({ messages: history.map((content) => ({ role: 'user', content })) })
      sent += inputs.length
      return JSON.stringify({ id: `${turn}-${agent}`, us: turn * 1_000_000 + agent, inputs })
    })
    await store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.payloads (project_id, at, id, part, clock, inputs, summary, otel_dump)
        SELECT 'e/p', fromUnixTimestamp64Micro(1732718374000000 + us), id, 'both', 1, inputs, '', ''
        FROM format(JSONEachRow, 'id String, us Int64, inputs String', {rows:String})`,
      params: { rows: rows.join('\n') },
    })
  }
  await store.command({ name: 'test', sql: 'OPTIMIZE TABLE callhouse.payloads FINAL', params: {} })
  const [stored] = await store.rows<{ bytes: string }>({
    name: 'test',
    sql: `SELECT toString(sum(column_data_compressed_bytes)) AS bytes FROM system.parts_columns
      WHERE database = 'callhouse' AND table = 'payloads' AND column = 'inputs' AND active`,
    params: {},
  })
  expect(sent / Number(stored?.bytes)).toBeGreaterThan(10)
}, 120_000)
