// Moves the position behind what was applied: at once, or where the log delivers on without it, for several batches.
import type { Batch, Log } from '../core/log/log.ts'
import type { Store } from '../core/store/store.ts'
import type { InFlight } from './in-flight.ts'
import { partsOf } from './joined.ts'

/** What survives a crash only after a settle is at most so old, and so many batches. */
const heldMs = 500
const heldBatches = 12

export type Commits = {
  /** Commits the batch and all before it. @throws StoreError and errors of the log; to be tried again */
  now(batch: Batch): Promise<void>
  /** Lets the log go on; the position follows soon, and so does the end of the mark. Waits only when it cannot follow. */
  soon(batch: Batch): Promise<void>
  /** Commits what `soon` took. */
  flush(): Promise<void>
}

/**
 * @param deps.repeat runs a step until it is done, or the worker stops
 * @param deps.onCommit after positions of calls have moved
 * @param deps.onFatal the log cannot go on
 */
export function createCommits(deps: {
  log: Pick<Log, 'commit' | 'pass'>
  store: Pick<Store, 'settle'>
  inFlight: Pick<InFlight, 'end'>
  repeat(step: () => Promise<void>): Promise<unknown>
  onCommit(): void
  onFatal(error: unknown): void
}): Commits {
  const { log, store, inFlight, repeat, onCommit, onFatal } = deps
  let held: Batch[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const commit = async (batch: Batch): Promise<void> => {
    const { topic } = batch
    const commits = partsOf(batch).map(({ partition, lastOffset: offset }) => log.commit({ topic, partition, offset }))
    for (const result of await Promise.allSettled(commits)) if (result.status === 'rejected') throw result.reason
  }
  const end = (batch: Batch): void => {
    for (const part of partsOf(batch)) inFlight.end(part)
  }
  /** One after the other; each takes what there is when its turn comes. */
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    running = running.then(async () => {
      const mine = [...held]
      const last = mine.at(-1)
      if (last === undefined) return
      await repeat(async () => {
        await store.settle()
        await commit(last)
        held = held.slice(mine.length)
        onCommit()
      }).catch(onFatal)
      for (const batch of mine) end(batch)
    })
    return running
  }

  return {
    flush,
    async now(batch) {
      if (batch.topic !== 'calls') return commit(batch)
      await flush()
      await store.settle()
      await commit(batch)
      onCommit()
    },
    async soon(batch) {
      held.push(batch)
      log.pass?.({ topic: batch.topic, partition: batch.partition, offset: batch.lastOffset })
      if (held.length >= heldBatches) await flush()
      else timer ??= setTimeout(() => void flush(), heldMs)
    },
  }
}
