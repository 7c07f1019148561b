// Stored calls that are read whole are worked on in batches that fit into memory.
import { describe, expect, it } from 'vitest'
import { StoreError } from '../../services/core/store/store.ts'
import { workInBatches } from '../../services/derived/logs/call-batches.ts'

const mib = 2 ** 20
const rowsOf = (...bytes: number[]) => bytes.map((size, id) => ({ id, bytes: size }))
const never = () => {
  throw new Error('no call is too large')
}

/** Ids of each batch that was worked on, where those that hold more than `roomBytes` do not fit. */
async function batchesOf(rows: ReturnType<typeof rowsOf>, roomBytes = Number.POSITIVE_INFINITY) {
  const batches: number[][] = []
  const tooLarge: number[] = []
  const work = async (batch: readonly { id: number; bytes: number }[]) => {
    if (batch.reduce((sum, { bytes }) => sum + bytes, 0) > roomBytes) throw new StoreError('memory', 241, 'no room')
    batches.push(batch.map(({ id }) => id))
    return batch.length
  }
  const count = await workInBatches(rows, work, async ({ id }) => void tooLarge.push(id))
  return { batches, tooLarge, count }
}

describe('a batch of stored calls', () => {
  it('holds a thousand calls at most', async () => {
    const { batches, count } = await batchesOf(rowsOf(...Array<number>(2_001).fill(1)))
    expect(batches.map(({ length }) => length)).toEqual([1_000, 1_000, 1])
    expect([count, batches.flat()]).toEqual([2_001, Array.from({ length: 2_001 }, (_, id) => id)])
  })

  it('holds 16 MiB at most, or one call that is larger', async () => {
    const { batches } = await batchesOf(rowsOf(8 * mib, 8 * mib, 1, 17 * mib, 1))
    expect(batches).toEqual([[0, 1], [2], [3], [4]])
  })

  it('is halved where it does not fit into memory; a call that does not fit alone is left out of the count', async () => {
    const seen = await batchesOf(rowsOf(3, 3, 9, 3, 3), 6)
    expect(seen).toEqual({
      batches: [
        [0, 1],
        [3, 4],
      ],
      tooLarge: [2],
      count: 4,
    })
  })

  it('fails as a whole with any other error', async () => {
    const work = async () => Promise.reject(new StoreError('timeout', 159, 'too slow'))
    await expect(workInBatches(rowsOf(1, 1), work, never)).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('is none where there are no calls', async () => {
    expect(await batchesOf([])).toEqual({ batches: [], tooLarge: [], count: 0 })
  })
})
