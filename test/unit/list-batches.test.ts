// Lists that do not fit into one result are read slice by slice, in their order, within the bounds asked for.
import { expect, it } from 'vitest'
import { StoreError } from '../../services/core/store/store.ts'
import { inSlices } from '../../services/query/list-rows.ts'

/** A list of numbers; a slice of it that is longer than `most` rows is too large. */
async function read(length: number, most: number, bounds: { limit: number | null; offset: number }) {
  const asked: number[] = []
  const slices = inSlices(async ({ limit, offset }) => {
    asked.push(limit)
    const rows = Array.from({ length: Math.max(0, Math.min(limit, length - offset)) }, (_, i) => offset + i)
    if (rows.length > most) throw new StoreError('memory', 396, 'too large')
    return rows
  }, bounds)
  const found: number[] = []
  for await (const rows of slices) for (const row of rows) found.push(row)
  return { found, asked }
}

it.each([
  [10, 100, { limit: null, offset: 0 }, [0, 10]],
  [300_000, 150_000, { limit: null, offset: 7 }, [7, 300_000]],
  [300_000, 20_000, { limit: 250_000, offset: 5 }, [5, 250_005]],
  [40, 1, { limit: 30, offset: 3 }, [3, 33]],
  [0, 1, { limit: null, offset: 3 }, [0, 0]],
  [5, 1, { limit: 0, offset: 0 }, [0, 0]],
] as const)('%d rows of which %d fit: %j', async (length, most, bounds, [from, to]) => {
  const { found } = await read(length, most, bounds)
  expect(found).toEqual(Array.from({ length: to - from }, (_, i) => from + i))
})
it('a list that fits is one read', async () => {
  expect((await read(300_000, 300_000, { limit: null, offset: 0 })).asked).toHaveLength(1)
})
it('a row that is too large by itself is told', async () => {
  await expect(read(3, 0, { limit: null, offset: 0 })).rejects.toThrow('too large')
})
