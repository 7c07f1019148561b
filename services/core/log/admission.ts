// Decides whether the embedded log takes more: bounds the unapplied bytes and keeps disk space free.
import { requiredFreeBytes } from '../free-space.ts'
import { type Fault, retryLater } from '../http/errors.ts'
import type { LogFs } from './disk.ts'

export type Admission = {
  /** Counts the bytes in. Throws 429 when too much is unapplied, 503 when the disk was low a moment ago. */
  enter(bytes: number): void
  /** Counts in what was unapplied when the log was opened. */
  restore(bytes: number): void
  /** Counts bytes out: they are applied, or they were refused later. */
  leave(bytes: number): void
  /** Called before each write: looks at the disk again when the last look is a second old. */
  checkDisk(): Promise<Fault | null>
  /** The next check looks at the disk (after a write found it full). */
  recheckDisk(): void
  unappliedBytes(): number
  /** Why it refused lately, null when it accepts. */
  reason(): string | null
}

const checkEveryMs = 1000

export function createAdmission(options: {
  fs: LogFs
  dir: string
  maxUnappliedBytes: number
  minFreeBytes: number
}): Admission {
  const { fs, dir, maxUnappliedBytes, minFreeBytes } = options
  let unapplied = 0
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null
  let low: string | null = null
  let refusedFor: string | null = null

  async function look(): Promise<void> {
    const { freeBytes, totalBytes } = await fs.space(dir)
    const needed = requiredFreeBytes(totalBytes, minFreeBytes)
    low = freeBytes < needed ? `Disk space is low: ${mib(freeBytes)} free, ${mib(needed)} needed` : null
    checkedAt = performance.now()
  }
  const isFresh = (): boolean => performance.now() - checkedAt < checkEveryMs

  return {
    enter(bytes) {
      if (low !== null && isFresh()) throw retryLater(503, low)
      // One append larger than the bound is taken when nothing else waits: else it could never be taken.
      if (unapplied > 0 && unapplied + bytes > maxUnappliedBytes) {
        refusedFor = `${mib(unapplied)} are waiting to be applied, the bound is ${mib(maxUnappliedBytes)}`
        throw retryLater(429, refusedFor)
      }
      unapplied += bytes
    },
    restore(bytes) {
      unapplied += bytes
    },
    leave(bytes) {
      unapplied -= bytes
      if (bytes > 0) refusedFor = null
    },
    async checkDisk() {
      if (!isFresh()) {
        checking ??= look().finally(() => {
          checking = null
        })
        await checking
      }
      return low === null ? null : retryLater(503, low)
    },
    recheckDisk() {
      checkedAt = Number.NEGATIVE_INFINITY
    },
    unappliedBytes: () => unapplied,
    reason: () => low ?? refusedFor,
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`
