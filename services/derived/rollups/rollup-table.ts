// The rollups of calls: by which statements each is recomputed.
import { statement } from '../../core/store/statements.ts'
import type { Recomputed } from './recompute.ts'

/** A rollup of calls, or of what follows from them: recomputed by statements, or derived. */
export type Rollup = {
  name: string
  recomputed?: Recomputed
  /**
   * Statement that marks all minutes as dirty in an installation without the rollup, null = none; absent: everything is
   * counted hour by hour, between the recomputes of new changes.
   */
  markAllStatement?: string | null
  /** Name that is covered once every row has today's columns; until then all are counted again in the same way. */
  layout?: string
  /** Derives what is due, in another way; the parameters are those of `Recomputed.due`. */
  derive?(range: Record<string, unknown>): Promise<void>
  /** Before other work on its tables: what it holds in memory is not of these tables any more. */
  forget?(): void
  /** Waits longer for more changes before it is recomputed, and may be further behind. */
  isSlow?: boolean
  /** Whether a slow rollup should not wait for its time. */
  isMuchDue?(): boolean
}

/** Name of the rollup that stands for deduplicated calls. */
export const deduplicationRollup = 'call_sweep'

/** The calls of some buckets with what they count. */
const counted = statement('counted-calls').sql

export const rollupTable: readonly Rollup[] = [
  {
    name: 'call_counts',
    recomputed: {
      due: 'call-counts-due',
      minutes: 'call-counts',
      bits: 'call-counts-seconds',
      hours: 'call-counts-hourly',
    },
  },
  {
    name: 'call_stats',
    recomputed: {
      due: 'buckets-due',
      minutes: 'call-stats',
      seconds: ['call-stats', 'call-stats-merge'],
      hours: 'call-stats-merge',
      // Two rows a bucket: of roots, and of other calls.
      parts: { counted, table: 'call_stats', secondRows: '120' },
    },
    layout: 'call_stats_calls_by_op',
  },
  {
    name: 'trace_parts',
    // A row holds every trace of its minute: to write it costs as much as all that came in that minute.
    isSlow: true,
    recomputed: {
      due: 'buckets-due',
      minutes: 'trace-parts',
      seconds: ['trace-parts', 'trace-parts-merge'],
      parts: { counted, table: 'trace_parts', secondRows: '60' },
    },
  },
]

/** Minutes before these times, in seconds, are not counted again: by project. */
export type CountedAgain = { agedProjects: string[]; countedFrom: number[] }

/** Whatever is stored is counted. */
export const allCountedAgain: CountedAgain = { agedProjects: [''], countedFrom: [0] }
