// Places that an erasure does not reach: each with the time at which it is empty, which the place itself keeps.
import { expect, it } from 'vitest'
import { largeRecordsLongerMs } from '../../services/core/log/kafka/large-records.ts'
import { type Erasure, noErasureCounts } from '../../services/events/erasures.ts'
import { createRemaining } from '../../services/removal/remaining.ts'

const requestedMs = Date.parse('2026-03-10T12:00:00Z')
const logRetentionMs = 7 * 86_400_000
const erasure = {
  projectId: 'e/p',
  requestedUs: requestedMs * 1_000,
  firstVer: 1n,
  untilVer: 2n,
  counts: noErasureCounts,
}
const remaining = createRemaining({
  store: { rows: async () => [] },
  log: {},
  logRetentionMs,
  removedProjects: () => new Map(),
})

it('a log that is not written again has what was erased for a segment longer, and its large records as long as they are kept', async () => {
  const until = Object.fromEntries(
    (await remaining(erasure as unknown as Erasure)).map(({ place, until }) => [place, until]),
  )
  expect(until).toMatchObject({
    log: '2026-03-18T12:06:00.000Z',
    'large records of the log': '2026-03-25T12:00:00.000Z',
  })
  expect(largeRecordsLongerMs).toBe(8 * 86_400_000)
})
