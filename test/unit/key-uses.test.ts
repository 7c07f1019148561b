// When keys were used last: known at once where they are used, written to the directory rarely.
import { expect, it } from 'vitest'
import type { Change } from '../../services/core/directory/directory.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import { createKeyUses } from '../../services/core/http/key-uses.ts'

const minuteMs = 60_000
const noon = Date.parse('2026-01-05T12:00:00Z')

function world(...ids: string[]) {
  const state = emptyState()
  const put = ({ key, value }: Change) => applyItem(state, { key, value, at: '', by: '' })
  for (const id of ids) put({ key: `key/${id}`, value: { sha256: id, scopes: ['acme'] } })
  const written: Change[][] = []
  const directory = {
    state: () => state,
    async append(changes: readonly Change[]) {
      written.push([...changes])
      changes.forEach(put)
    },
  }
  const held = new Map<string, { usedMs: number }>()
  const use = (id: string, usedMs: number) => held.set(id, { usedMs })
  return { state, written, use, uses: createKeyUses(directory, held) }
}

it('the first use of a key is written, and another one an hour later', async () => {
  const { state, written, use, uses } = world('a', 'b')
  const { flush, lastMs } = uses
  await flush()
  expect([written.length, lastMs(state, 'a')]).toEqual([0, undefined])
  use('a', noon + 1_234)
  await flush()
  expect(written).toEqual([[{ key: 'key-used/a', value: { at: '2026-01-05T12:00:00.000Z' } }]])
  use('a', noon + 59 * minuteMs)
  await flush()
  expect([written.length, lastMs(state, 'a')]).toEqual([1, noon + 59 * minuteMs])
  use('a', noon + 60 * minuteMs)
  use('b', noon)
  await flush()
  expect(written[1]?.map(({ key }) => key)).toEqual(['key-used/a', 'key-used/b'])
  // Another process reads what this one has written.
  expect(createKeyUses({ state: () => state, append: async () => undefined }, new Map()).lastMs(state, 'b')).toBe(noon)
})

it('nothing is written of keys that the directory does not have, and not thousands at one time', async () => {
  const ids = Array.from({ length: 1_200 }, (_, n) => `k${n}`)
  const { written, use, uses } = world(...ids)
  for (const id of [...ids, 'configured-1']) use(id, noon)
  for (let n = 0; n < 4; n++) await uses.flush()
  expect(written.map((changes) => changes.length)).toEqual([500, 500, 200])
})
