// Recomputes dirty minutes: whole, or only the seconds that changed of minutes with many calls; see ADR 0003.

import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'

/**
 * Statements (files of clickhouse/statements) that recompute dirty minutes. Their rows carry `revision`, which grows
 * with every recompute.
 */
export type Recomputed = {
  /**
   * Returns the dirty minutes: those with buckets at `position > minCovered` and, per partition, `covered < position <=
   * upTo` (arrays `partitions`, `covered`, `upTo`), of projects in `slots` (none = of all). Minutes of `agedProjects` before
   * `countedFrom` (seconds) keep the statistics that they have.
   */
  due: string
  /** Counts `buckets` of `projects`, which are minutes. */
  minutes: string
  /** Counts seconds of minutes with many calls, as bits. */
  bits?: string
  /** The same in two steps: counts `buckets` that are seconds, and merges these into minutes. */
  seconds?: [count: string, merge: string]
  /** Merges minutes into hours. */
  hours?: string
  /** Replacements of `${name}` in these statements. */
  parts?: Readonly<Record<string, string>>
}

/** Calls from which on a minute is told by its seconds. */
const manyCallsOfMinute = 6_000
/** Buckets of one statement, which names each of them. */
const maxBuckets = 5_000
const maxHotMinutes = 50
/** Ops, users and models of calls with usage that a row of statistics tells apart; beyond them, models alone. */
const mostKeysOfBucket = 500
/** Beside the batches: rows that come meanwhile have dirty buckets past what is covered. */
const aside = { background: true }

/** `seconds`: bit n of second n; 0 = all of the minute. */
type DirtyMinute = { project_id: string; minute: number; seconds: string }
type Bucket = Pick<DirtyMinute, 'project_id' | 'minute'>

function* batchesOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size)
}

/** @param unit length of the buckets, or of what is merged into them, in seconds; `span`: of the buckets */
const bucketsOf = (buckets: readonly Bucket[], unit: 1 | 60, span: number = unit) => {
  const times = buckets.map(({ minute }) => minute)
  const bound = (of: (a: number, b: number) => number) => times.reduce((a, b) => of(a, b))
  return {
    projects: buckets.map(({ project_id }) => project_id),
    buckets: times,
    from: bound(Math.min),
    before: bound(Math.max) + span,
    unit,
  }
}

function* secondsIn({ project_id, minute, seconds }: DirtyMinute): Generator<Bucket> {
  const bits = BigInt(seconds)
  for (let second = 0; second < 60; second++)
    if ((bits >> BigInt(second)) & 1n) yield { project_id, minute: minute + second }
}

function hoursOf(minutes: readonly Bucket[]): Bucket[] {
  const hours = new Map<string, Bucket>()
  for (const { project_id, minute } of minutes) {
    const hour = minute - (minute % 3600)
    hours.set(`${hour} ${project_id}`, { project_id, minute: hour })
  }
  return [...hours.values()]
}

export type RecomputeBounds = {
  /** Calls from which on a minute is told by its seconds. */
  manyCalls?: number | undefined
  /** Ops, users and models of calls with usage that a bucket tells apart. */
  mostKeys?: number | undefined
}

export async function recomputeDirty(
  store: Pick<Store, 'rows' | 'command'>,
  { due, minutes, bits, seconds, hours, parts }: Recomputed,
  range: Record<string, unknown>,
  { manyCalls = manyCallsOfMinute, mostKeys = mostKeysOfBucket }: RecomputeBounds = {},
): Promise<void> {
  const { revision } = range
  const dirty = await store.rows<DirtyMinute>(statement(due, { ...range, manyCalls }, parts), { pool: 'background' })
  const run = (file: string, params: Record<string, unknown>): Promise<void> =>
    store.command(statement(file, { ...params, revision, manyCalls, mostKeys }, parts), aside)

  const whole = dirty.filter((one) => one.seconds === '0')
  for (const batch of batchesOf(whole, maxBuckets)) await run(minutes, bucketsOf(batch, 60))
  const hot = dirty.filter((one) => one.seconds !== '0')
  for (const batch of batchesOf(hot, maxHotMinutes)) {
    const each = batch.flatMap((minute) => [...secondsIn(minute)])
    const { from, before } = bucketsOf(each, 1)
    const ofMinutes = bucketsOf(batch, 1, 60)
    if (bits) await run(bits, { ...ofMinutes, from, before, seconds: batch.map((one) => one.seconds) })
    if (seconds) {
      await run(seconds[0], bucketsOf(each, 1))
      await run(seconds[1], ofMinutes)
    }
  }
  if (hours) for (const batch of batchesOf(hoursOf(dirty), maxBuckets)) await run(hours, bucketsOf(batch, 60, 3600))
}
