// Places that an erasure does not reach, as its receipt names them, with the time at which they are empty.
import { largeRecordsLongerMs } from '../core/log/kafka/large-records.ts'
import type { Log } from '../core/log/log.ts'
import type { Erasure } from '../events/erasures.ts'
import { type Finder, find } from './engine.ts'
import { rewrittenTopics } from './kept-log.ts'
import { erasedTables } from './places.ts'

type Remaining = { place: string; until: string | null }

type RemainingDeps = Finder & {
  log: Pick<Log, 'rewrite'>
  removedProjects(): ReadonlyMap<string, number>
  /** Time for which records that cannot be rewritten stay in the log. */
  logRetentionMs: number
}

/** Backups, and objects and rows, that one receipt names. */
const maxBackups = 100
const maxReferring = 1_000
/** A segment of a topic goes as a whole, after a day at the latest; brokers look for it every five minutes. */
const segmentMs = 86_400_000 + 6 * 60_000

/** @param more what the rest are called */
const atMost = (places: string[], most: number, more: string): string[] =>
  places.length <= most ? places : [...places.slice(0, most), `${places.length - most} ${more}`]

/** Every place that an erasure looks at; of the log on Kafka it can change nothing. */
export const lookedAt = (log: Pick<Log, 'rewrite'>): string[] => [
  ...erasedTables.map((table) => `table ${table}`),
  ...(log.rewrite === undefined ? [] : rewrittenTopics.map((topic) => `log of ${topic}`)),
  'dead letters',
  'blob storage',
]

export function createRemaining({ store, log, removedProjects, logRetentionMs }: RemainingDeps) {
  /** Backups that were made, or begun, since something came of what was erased. */
  async function backups({ firstVer, counts, projectId }: Erasure): Promise<string[]> {
    const isNothing = counts.calls + counts.payload_rows + counts.feedback + counts.log_records === 0
    if (isNothing && !removedProjects().has(projectId)) return []
    const rows = await find<{ ms: number }>({ store }, 'erasure.backups', { first: Number(firstVer >> 10n) })
    const named = rows.map(({ ms }) => `backup of ${new Date(ms).toISOString()}`)
    return atMost(named, maxBackups, 'older backups')
  }

  /** Objects, and rows of tables, with refs to calls that were deleted for an erasure. */
  async function referring({ projectId, untilVer }: Erasure): Promise<string[]> {
    const params = { project: projectId, until: String(untilVer), lead: `weave:///${projectId}/call/` }
    const rows = await find<{ place: string }>({ store }, 'erasure.referring', params)
    const named = rows.map(({ place }) => place)
    return atMost(named, maxReferring, 'more objects and rows')
  }

  /** Places that this server may not change, or whose data stays. */
  return async (erasure: Erasure): Promise<Remaining[]> => {
    const { projectId, requestedUs } = erasure
    const isWhole = removedProjects().has(projectId)
    const afterRetention = (ms: number) => new Date(requestedUs / 1_000 + logRetentionMs + ms).toISOString()
    const places: Remaining[] = (await backups(erasure)).map((place) => ({ place, until: null }))
    if (log.rewrite === undefined)
      places.push(
        { place: 'log', until: afterRetention(segmentMs) },
        { place: 'large records of the log', until: afterRetention(largeRecordsLongerMs) },
      )
    else if (isWhole) places.push({ place: 'log of tables, prices, queues and jobs', until: afterRetention(0) })
    if (!isWhole) {
      for (const place of await referring(erasure)) places.push({ place, until: null })
      if (erasure.counts.log_records > 0)
        places.push({ place: 'calls and feedback that log records became part of', until: null })
      places.push(
        { place: 'objects and tables, and files that something else names', until: null },
        { place: 'files that nothing named, such as images of requests without a call', until: null },
      )
    }
    return [...places, { place: 'backups and exports', until: null }]
  }
}
