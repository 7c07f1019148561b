// The bytes that are appended and not applied, by project: how many there may be, and how many of one project.

import { createShares } from '../../concurrency/shares.ts'
import { overLimit, type Refusal } from '../../errors.ts'
import type { RecordInput } from '../log.ts'

export type ProjectBytes = ReadonlyMap<string, number>

export type Unapplied = {
  /**
   * `over_limit` when there are too many, or too many of a project; null when they may be taken.
   * @param total all that is unapplied; default: what was taken here
   */
  refusal(bytes: number, projects: ProjectBytes, total?: number): Refusal | null
  take(bytes: number, projects: ProjectBytes): void
  give(bytes: number, projects: ProjectBytes): void
  totalBytes(): number
  /**
   * The reason of the last refusal that was not one project's fault, until something is taken or given back; null when
   * there is none.
   */
  reason(): string | null
}

/** Bytes that a project may always have, as long as the total allows it. */
const minBytes = 16 * 2 ** 20
/** A project that has no more than this waiting is not refused for what others have, up to the bound of bytes. */
const littleBytes = 4 * 2 ** 20
/** A project that wrote in this time counts as one that waits: it may write again at any moment. */
const recentMs = 24 * 3_600_000

export const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

const none: ProjectBytes = new Map()

export const sumOf = (projects: ProjectBytes): number => projects.values().reduce((sum, bytes) => sum + bytes, 0)

/** Bytes of the rows of an append by project; rows of unknown projects belong to none. */
export function bytesByProject(records: readonly RecordInput[]): ProjectBytes {
  if (records.length === 1) return (records[0] as RecordInput).projects ?? none
  const all = new Map<string, number>()
  for (const { projects = none } of records)
    for (const [project, bytes] of projects) all.set(project, (all.get(project) ?? 0) + bytes)
  return all
}

/**
 * @param options.isApplying whether batches are applied at this moment; then a project beside others has at most an
 * eighth at any time, so that their rows do not wait for more than that. When nothing is applied they wait anyway.
 * @param options.appliedBytes how many are applied in the time that the others may wait, undefined while that is not
 * known: what a project has beside them at most, if that is less than the eighth
 * @param options.readableBytes how many are applied in the time that a reader waits, undefined while that is not known:
 * the bound while batches are applied, if that is less, for whoever has more than a little waiting
 */
export function createUnapplied(options: {
  maxBytes: number
  isApplying(): boolean
  appliedBytes?(): number | undefined
  readableBytes?(): number | undefined
}): Unapplied {
  const { maxBytes, isApplying, appliedBytes, readableBytes } = options
  const bound = () =>
    isApplying() ? Math.min(maxBytes, Math.max(2 * minBytes, readableBytes?.() ?? maxBytes)) : maxBytes
  const maxShareBytes = () => Math.min(maxBytes / 8, Math.max(minBytes, appliedBytes?.() ?? maxBytes))
  const shares = createShares<string>({
    bound,
    minBytes,
    maxBytes: maxShareBytes,
    recentMs,
    isAlwaysShared: isApplying,
  })
  let reason: string | null = null
  const isLittle = ([project, bytes]: readonly [string, number]): boolean =>
    shares.bytesOf(project) === 0 || shares.bytesOf(project) + bytes <= littleBytes
  return {
    refusal(bytes, projects, total = shares.totalBytes()) {
      const refused = shares.refusal(bytes, projects, total)
      if (refused === null) return null
      if (refused === 'all' && total + bytes <= maxBytes && [...projects].every(isLittle)) return null
      const boundBytes = bound()
      if (refused === 'share' && total + bytes <= boundBytes * (7 / 8))
        return overLimit('log_share', 'Too many bytes of this project are waiting to be applied')
      const why = boundBytes < maxBytes ? ': as much as is applied while a reader waits' : ''
      reason = `${mib(total)} are waiting to be applied, the bound is ${mib(boundBytes)}${why}`
      return overLimit(refused === 'all' ? 'log' : 'log_share', reason)
    },
    take(bytes, projects) {
      shares.take(bytes, projects)
      reason = null
    },
    give(bytes, projects) {
      shares.give(bytes, projects)
      if (bytes > 0) reason = null
    },
    totalBytes: shares.totalBytes,
    reason: () => reason,
  }
}
