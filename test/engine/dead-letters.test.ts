// The contract of dead letters on its drivers: a file of the data folder, a table of an engine inside; on a server again.
// again: kafka
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { openFileDeadLetters } from '../../services/worker/dead-letters/dead-letters-file.ts'
import { createTableDeadLetters } from '../../services/worker/dead-letters/dead-letters-table.ts'
import { temporaryFolder } from '../fixtures/log.ts'
import { createTestStore } from '../fixtures/store.ts'
import { deadLettersContract } from './dead-letters.contract.ts'

describe('in a file', () => {
  deadLettersContract(async () => {
    const dir = await temporaryFolder()
    return () => openFileDeadLetters(dir)
  })

  it('dead letters in a file survive a torn last line', async () => {
    const dir = await temporaryFolder()
    const letters = await openFileDeadLetters(dir)
    await letters.add({ topic: 'calls', partition: 0, offset: 1, rowIndex: 0, reason: 'r', row: '{}' })
    const kept = await letters.list()
    await letters.close()
    await appendFile(join(dir, 'deadletters.jsonl'), '\n{"id":"torn","row":"{')
    const again = await openFileDeadLetters(dir)
    expect(await again.list()).toEqual(kept)
    await again.markReplayed(kept[0]?.id ?? '')
    expect((await again.show(kept[0]?.id ?? ''))?.replayedAt).toBeDefined()
    await again.close()
  })
})

describe('in a table', () => {
  let store: Store
  let remove: () => Promise<void>
  beforeAll(async () => {
    ;({ store, remove } = await createTestStore())
  }, 60_000)
  afterAll(() => remove())
  beforeEach(() => store.command({ name: 'test.empty', sql: 'TRUNCATE TABLE callhouse.dead_letters', params: {} }))

  deadLettersContract(async () => async () => createTableDeadLetters(store))
})
