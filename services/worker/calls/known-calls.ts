// Knows which calls and traces of spans the tables may hold something of, where this process alone writes them: one that it
// does not know is new, and needs no look into the tables.
import { setImmediate } from 'node:timers/promises'
import { pause } from '../../core/concurrency/pause.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import { statement } from '../../core/store/statements.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { type Budget, unlimited } from '../../derived/budget.ts'
import { readHourRanges } from '../../derived/rollups/hours.ts'
import {
  createFingerprints,
  type Fingerprint,
  type Fingerprints,
  fingerprintFrom,
  fingerprintOf,
} from './fingerprints.ts'

export type KnownCalls = {
  /** Whether a call that was not added before is surely new. Not until the tables have been read, nor when there are too many. */
  isComplete(): boolean
  /**
   * Called before anything of the call or trace goes into the tables.
   * @param key of the call (`keyOfTexts`) or the trace (`keyOfTrace`)
   * @returns false when it was surely not added before
   */
  add(key: string): boolean
  /** The tables hold what was not added: nothing is known until they have been read again. */
  forget(): void
  /** The tables will hold what cannot be added: nothing is known any more in this process. */
  disable(reason: DisableReason): void
  /** Reads what the tables hold; resolves once that is known. */
  fill(): Promise<void>
}

/** A row is not as this build writes it, or there are more calls than fingerprints have room for. */
type DisableReason = 'unknown row' | 'too many calls'

/** Calls that one statement reads. */
const pageCalls = 500_000
/** Hashes that are added before the event loop is let go. */
const addedAtOnce = 50_000
const hashBytes = 8
/** After what changed the tables, more of it may follow. */
const refillMs = 2_000
const retryMs = 30_000

/**
 * @param deps.maxSlots of the fingerprints
 * @param deps.signal ends the reading; absent: it begins only by `fill`
 */
export function createKnownCalls(deps: {
  store: Pick<Store, 'rows' | 'bytes'>
  budget?: Budget
  maxSlots?: number
  signal?: AbortSignal
  onError?(error: Error): void
  /** From now on each call is looked up, until the next start. */
  onDisable?(reason: DisableReason): void
}): KnownCalls {
  const { store, budget = unlimited, maxSlots, signal, onError, onDisable } = deps
  const queue = createSerialQueue()
  let known: Fingerprints = createFingerprints(maxSlots)
  let isComplete = false
  let isDisabled = false
  /** Grows with each `forget`. */
  let generation = 0

  const disable = (reason: DisableReason): void => {
    if (isDisabled) return
    onDisable?.(reason)
    isDisabled = true
    isComplete = false
    known = createFingerprints(0)
  }
  const put = (fingerprint: Fingerprint): boolean => {
    const wasThere = known.has(fingerprint)
    if (!wasThere && !isDisabled && !known.add(fingerprint)) disable('too many calls')
    return wasThere
  }

  const addHashes = async (query: Query): Promise<void> => {
    const bytes = await budget.run(() => store.bytes(query, 'RowBinary', { pool: 'background', timeoutMs: 600_000 }))
    for (let at = 0; at < bytes.length && !isDisabled; at += hashBytes) {
      put(fingerprintFrom(bytes.readInt32LE(at), bytes.readInt32LE(at + 4)))
      if (at % (addedAtOnce * hashBytes) === 0) await setImmediate()
    }
  }

  /** Ranges of hours with about as many calls as one statement reads. */
  const pages = async () => {
    const ranges: { from: number; before: number; rows: number }[] = []
    for (const { fromUs: from, beforeExclusiveUs: before, rows } of await readHourRanges(store, 0)) {
      const last = ranges.at(-1)
      if (last && last.rows + rows <= pageCalls) Object.assign(last, { before, rows: last.rows + rows })
      else ranges.push({ from, before, rows })
    }
    return ranges
  }

  const read = async (): Promise<void> => {
    const began = generation
    const isOver = () => isDisabled || began !== generation || signal?.aborted === true
    // What goes in meanwhile is added by whoever inserts it.
    for (const { from, before } of await pages()) {
      if (isOver()) return
      await addHashes(statement('known-calls', { from, before }))
    }
    const count = statement('known-call-patches.count')
    const [row] = await store.rows<{ n: number }>(count, { pool: 'background' })
    const shares = Math.ceil(Number(row?.n) / pageCalls)
    for (let share = 0; share < shares; share++) {
      if (isOver()) return
      await addHashes(statement('known-call-patches', { share, shares }))
    }
    isComplete = !isOver()
  }

  const fill = () => queue.run(async () => void (isComplete || isDisabled || (await read())))

  const refill = async (waitMs: number): Promise<void> => {
    if (!signal) return
    const began = generation
    await pause(waitMs, signal)
    if (signal.aborted || began !== generation) return
    await fill().catch((error: Error) => {
      if (signal.aborted) return
      onError?.(error)
      void refill(retryMs)
    })
  }
  void refill(0)

  return {
    isComplete: () => isComplete,
    add: (key) => put(fingerprintOf(key)),
    forget() {
      generation++
      isComplete = false
      if (!isDisabled) void refill(refillMs)
    },
    disable,
    fill,
  }
}
