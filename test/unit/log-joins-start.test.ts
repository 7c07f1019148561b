// A start does not wait until it is known which projects have log records that are joined: calls of any may have some until then.
import { expect, it } from 'vitest'
import type { Log } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { StoreError } from '../../services/core/store/store.ts'
import { createJoiner } from '../../services/derived/logs/joiner.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'

type Row = { project_id: string; responses: number }

/** A joiner over a store that answers when the test says so. */
function started() {
  const asked: { answer(rows: Row[]): void; fail(): void }[] = []
  const joiner = createJoiner({
    log: createMemoryLog() as unknown as Log,
    store: {
      rows: (query) =>
        new Promise((resolve, reject) => {
          expect(query.name).toBe('log-joins-projects')
          asked.push({
            answer: resolve as (rows: unknown[]) => void,
            fail: () => reject(new StoreError('outage', 0, '')),
          })
        }),
      command: async () => undefined,
    },
    progress: createProgress(),
    mapping: { joined: () => null, evaluation: () => null },
    onError: () => undefined,
  })
  return { joiner, asked }
}

it('the joiner looks at the calls of all projects until it knows which have records', async () => {
  const { joiner, asked } = started()
  const learned = joiner.learn()
  expect([joiner.projects(), joiner.evaluated()]).toEqual([null, null])
  asked[0]?.answer([
    { project_id: 'a/one', responses: 0 },
    { project_id: 'a/two', responses: 1 },
  ])
  await learned
  expect([joiner.projects(), joiner.evaluated()]).toEqual([['a/one', 'a/two'], ['a/two']])
})

it('the joiner asks for these projects once for whoever wants to know, and again after an outage', async () => {
  const { joiner, asked } = started()
  const both = [joiner.learn(), joiner.learn()]
  expect(asked).toHaveLength(1)
  asked[0]?.fail()
  for (const one of both) await expect(one).rejects.toThrow(StoreError)
  expect(joiner.projects()).toBeNull()
  const learned = joiner.learn()
  asked[1]?.answer([])
  await learned
  expect(joiner.projects()).toEqual([])
})
