// The directory of several processes: a log of items that each of them reads whole before it serves, and then follows.
import { createSerialQueue } from '../concurrency/serial-queue.ts'
import { unavailable } from '../errors.ts'
import { type Change, type Directory, itemsOf } from './directory.ts'
import { parseItem } from './items.ts'
import { applyItem, emptyState } from './state.ts'

/** An item as it lies in the log: its key, and the rest as JSON; null = it is removed. */
export type ItemRecord = { key: string; text: string | null }

/** A log that keeps the last record of every key at least, in one order for all processes. */
export type ItemLog = {
  /** Resolves once the records are durable, with the position of the last one. */
  append(records: readonly ItemRecord[]): Promise<number>
  /**
   * Reads the records at the position or after it: at once when there is any, else after a moment. `next` is behind it.
   */
  read(from: number): Promise<{ records: ItemRecord[]; next: number }>
  /** The first position that is kept, and the one that the next record will have. */
  ends(): Promise<{ first: number; next: number }>
  close(): Promise<void>
}

export type SharedOptions = {
  log: ItemLog
  /** Without contact to the log for so long nobody is let in by what is known here. */
  staleMs: number
  /** Steady milliseconds. */
  now?: () => number
  /** Called for records that cannot be used, and once when the log cannot be read. */
  onBroken?(reason: string): void
  onMended?(): void
  pauseMs?: number
}

export type SharedDirectory = Directory & {
  /** Resolves when what is asked for has come, or after the time; at once when too many wait already. */
  arrives(isThere: () => boolean, ms: number): Promise<void>
}

/** Without contact for so long `/health` says so. */
const degradedMs = 60_000
const readBackMs = 10_000
const maxWaiting = 20

type Waiter = { isDone(): boolean; resolve(): void }

/** @throws Error when the log cannot be read */
export async function openSharedDirectory(options: SharedOptions): Promise<SharedDirectory> {
  const { log, staleMs, now = () => performance.now(), pauseMs = 200 } = options
  const state = emptyState()
  const appends = createSerialQueue(() => unavailable('The directory is closed'))
  const waiters = new Set<Waiter>()
  let version = 0
  let position = 0
  let contactMs = now()
  let arriving = 0
  let isFailing = false
  let isClosed = false

  function apply({ key, text }: ItemRecord): void {
    try {
      const rest = text === null ? { at: '', by: '', value: null } : (JSON.parse(text) as object)
      applyItem(state, parseItem({ ...rest, key }))
      version++
    } catch (error) {
      // A record of a later version, or of somebody else: the others count all the same.
      options.onBroken?.(`an item of the directory cannot be used: ${(error as Error).message}`)
    }
  }

  async function readOn(): Promise<void> {
    const { records, next } = await log.read(position)
    for (const record of records) apply(record)
    position = next
    contactMs = now()
    for (const waiter of waiters) if (waiter.isDone()) waiter.resolve()
  }

  /** Resolves true when it is done, false after the time. */
  function until(isDone: () => boolean, ms: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (done: boolean) => {
        clearTimeout(timer)
        waiters.delete(waiter)
        resolve(done)
      }
      const timer = setTimeout(() => end(false), ms)
      const waiter = { isDone, resolve: () => end(true) }
      waiters.add(waiter)
    })
  }

  async function follow(): Promise<void> {
    while (!isClosed)
      try {
        await readOn()
        if (isFailing) options.onMended?.()
        isFailing = false
      } catch (error) {
        if (isClosed) return
        if (!isFailing) options.onBroken?.(`the directory cannot be read: ${(error as Error).message}`)
        isFailing = true
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
  }

  const { first, next } = await log.ends()
  position = first
  while (position < next) await readOn()
  const following = follow()

  return {
    state: () => state,
    version: () => version,
    look: () => undefined,
    append: (changes: readonly Change[], by) =>
      appends.run(async () => {
        if (changes.length === 0) return
        const records = itemsOf(state, changes, by, Date.now()).map(({ key, ...rest }) => ({
          key,
          text: rest.value === null ? null : JSON.stringify(rest),
        }))
        const last = await log.append(records).catch((error: unknown) => {
          throw unavailable(`The directory takes no changes at the moment: ${(error as Error).message}`, 2)
        })
        if (!(await until(() => position > last, readBackMs)))
          throw unavailable('The directory does not show its last change yet', 2)
      }),
    async arrives(isThere, ms) {
      if (arriving >= maxWaiting) return
      arriving++
      await until(isThere, ms)
      arriving--
    },
    problem() {
      const silentMs = now() - contactMs
      return silentMs > degradedMs ? `the directory was not read for ${Math.floor(silentMs / 1000)} s` : undefined
    },
    isStale: () => now() - contactMs > staleMs,
    async close() {
      isClosed = true
      for (const waiter of waiters) waiter.resolve()
      await appends.close()
      await log.close()
      await following
    },
  }
}
