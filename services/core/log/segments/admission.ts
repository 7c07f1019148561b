// Decides whether the embedded log takes more: bounds the unapplied bytes and keeps disk space free.

import { type Refusal, unavailable } from '../../errors.ts'
import type { LogFs } from '../../files/disk.ts'
import { requiredFreeBytes } from '../../files/free-space.ts'
import { createApplyPace } from './apply-pace.ts'
import { createUnapplied, mib, type ProjectBytes } from './unapplied.ts'

export type Admission = {
  /** Counts the bytes in. @throws Refusal when too much is unapplied, of all projects or of one, or the disk was low a moment ago */
  enter(bytes: number, projects: ProjectBytes): void
  /** The refusal that `enter` would throw. */
  refusal(bytes: number, projects: ProjectBytes): Refusal | null
  /** Counts in what was unapplied when the log was opened. */
  restore(bytes: number): void
  /** Counts bytes out that were refused later, or are counted in anew. */
  leave(bytes: number, projects: ProjectBytes): void
  /** Counts bytes out that are applied. */
  applied(bytes: number, projects: ProjectBytes): void
  /** Called before each write: looks at the disk again when the last look is a second old. */
  checkDisk(): Promise<Refusal | null>
  /** The next check looks at the disk (after a write found it full). */
  recheckDisk(): void
  unappliedBytes(): number
  /** The reason why it refused lately, null when it accepts. */
  reason(): string | null
}

const checkEveryMs = 1000
/** So long after the last batch, or the first bytes that wait, batches are taken to be applied. */
const applyingMs = 10_000
/** Rows may wait so long for those of another project: half of the time in which a quiet project's have to be readable. */
const othersWaitMs = 1000
/** The rest is for the batch that is applied when the reader comes, and for what the pace is wrong by. */
const ofTheWait = 0.75

export function createAdmission(options: {
  fs: LogFs
  dir: string
  maxUnappliedBytes: number
  minFreeBytes: number
  /**
   * Longest wait of a read for records that are not applied yet. Default: it is not known, and nothing is bounded by
   * it.
   */
  readersWaitMs?: number | undefined
}): Admission {
  const { fs, dir, maxUnappliedBytes, minFreeBytes, readersWaitMs } = options
  let movedAt = Number.NEGATIVE_INFINITY
  const pace = createApplyPace()
  const unapplied = createUnapplied({
    maxBytes: maxUnappliedBytes,
    isApplying: () => performance.now() - movedAt < applyingMs,
    appliedBytes: () => pace.bytesIn(othersWaitMs),
    readableBytes: () => (readersWaitMs === undefined ? undefined : pace.bytesIn(readersWaitMs * ofTheWait)),
  })

  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null
  let low: string | null = null

  async function look(): Promise<void> {
    const { freeBytes, totalBytes } = await fs.space(dir)
    const needed = requiredFreeBytes(totalBytes, minFreeBytes)
    low = freeBytes < needed ? `Disk space is low: ${mib(freeBytes)} free, ${mib(needed)} needed` : null
    checkedAt = performance.now()
  }
  const isFresh = (): boolean => performance.now() - checkedAt < checkEveryMs

  const refusal = (bytes: number, projects: ProjectBytes): Refusal | null =>
    low !== null && isFresh() ? unavailable(low) : unapplied.refusal(bytes, projects)

  return {
    refusal,
    enter(bytes, projects) {
      const refused = refusal(bytes, projects)
      if (refused !== null) throw refused
      if (unapplied.totalBytes() === 0) movedAt = performance.now()
      unapplied.take(bytes, projects)
    },
    restore: (bytes) => unapplied.take(bytes, new Map()),
    leave: unapplied.give,
    applied(bytes, projects) {
      unapplied.give(bytes, projects)
      movedAt = performance.now()
      pace.applied(bytes, unapplied.totalBytes() > 0)
    },
    async checkDisk() {
      if (!isFresh()) {
        checking ??= look().finally(() => {
          checking = null
        })
        await checking
      }
      return low === null ? null : unavailable(low)
    },
    recheckDisk() {
      checkedAt = Number.NEGATIVE_INFINITY
    },
    unappliedBytes: unapplied.totalBytes,
    reason: () => low ?? unapplied.reason(),
  }
}
