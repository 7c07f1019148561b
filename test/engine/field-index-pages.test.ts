// Number of pages of payloads that the field index reads where none of them has anything to index.
import { expect, it } from 'vitest'
import { createFieldIndex } from '../../services/derived/field-index/field-index.ts'
import { baseUs, complete, createCallWorld } from '../fixtures/call-world.ts'

const hourUs = 3_600_000_000

it('ranges in which all payloads are indexed are read in pages that grow from range to range', async () => {
  const world = await createCallWorld()
  try {
    const ranges = [0, 1, 2, 3, 4]
    const every = 45 * 60_000_000
    // Eight hours with a call in each, then two without.
    const calls = ranges.flatMap((range) =>
      Array.from({ length: 11 }, (_, n) =>
        complete(`${range} ${n}`, { startedUs: baseUs + range * 10 * hourUs + n * every }),
      ),
    )
    await world.apply(calls)
    await world.derive()
    let pages = 0
    const index = createFieldIndex({
      store: {
        ...world.store,
        bytes(query, ...rest) {
          if (query.name === 'field-index-payloads') pages++
          return world.store.bytes(query, ...rest)
        },
      },
    })
    await index.rollup.derive({ partitions: [0], covered: [0], upTo: [1], minCovered: 0, slots: [] })
    // One, two, four and the last of eight hours; then all at once.
    expect(pages).toBe(4 + ranges.length - 1)
  } finally {
    await world.remove()
  }
})
