// Connections to the embedded engine: each runs one statement at a time, and one that failed is never used again.
import type { Session } from 'chdb'
import { createConnectionQueue } from '../connection-queue.ts'
import { StoreError } from '../store.ts'

export type EngineResult = { bytes(): Uint8Array; rowsRead: number }

type Job = {
  sql: string
  format: string
  /** The project whose turn the statement takes. */
  projectId?: string | undefined
  /** Gives up after this time, waiting for a connection included. Absent: the statement's own limit decides. */
  timeoutMs?: number
  signal?: AbortSignal
  /** Stops the statement in the engine; called again until it has ended. */
  kill?: () => Promise<void>
}

export type Pool = {
  run(job: Job): Promise<EngineResult>
  /** Whether a statement runs. */
  isBusy(): boolean
  /** Waits for the statements in flight, then releases the connections. */
  close(): Promise<void>
}

/** Between two attempts to kill: the statement may not have been registered yet when the first one came. */
const killEveryMs = 100

/** @param open opens one connection with the settings of this pool */
export function createPool(options: { name: string; size: number; open: () => Session }): Pool {
  const { name, size, open } = options
  const places = createConnectionQueue(name, size)
  const idle: Session[] = []
  const running = new Set<Promise<unknown>>()
  let closed = false

  function take(): Session {
    try {
      return idle.pop() ?? open()
    } catch (error) {
      throw new StoreError(
        'outage',
        0,
        `no connection to the engine: ${error instanceof Error ? error.message : error}`,
      )
    }
  }

  function give(session: Session, isClean: boolean): void {
    if (isClean) idle.push(session)
    // Otherwise the output of a failed statement would come before the next result.
    else session.close()
  }

  function start(job: Job, leave: () => void): Promise<EngineResult> {
    const session = take()
    const native = session.queryAsync(job.sql, { format: job.format })
    const tracked = native
      .then(
        () => give(session, true),
        () => give(session, false),
      )
      .finally(leave)
    running.add(tracked)
    void tracked.finally(() => running.delete(tracked))
    return native
  }

  async function killUntilEnded(native: Promise<unknown>, kill: () => Promise<void>): Promise<void> {
    let hasEnded = false
    const ended = native.then(
      () => {
        hasEnded = true
      },
      () => {
        hasEnded = true
      },
    )
    while (!hasEnded) {
      // A kill that fails is repeated; the statement's own time limit ends it in any case.
      await kill().catch(() => {})
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, killEveryMs))])
    }
  }

  function run(job: Job): Promise<EngineResult> {
    if (closed) return Promise.reject(new StoreError('outage', 0, 'the store is closed'))
    if (job.signal?.aborted) return Promise.reject(new StoreError('cancelled', 394, 'the query was cancelled'))
    return new Promise((resolve, reject) => {
      let native: Promise<EngineResult> | undefined
      let takeBack = (): void => undefined
      let timer: NodeJS.Timeout | undefined

      const settle = () => {
        clearTimeout(timer)
        job.signal?.removeEventListener('abort', onAbort)
      }
      const fail = (error: unknown) => {
        settle()
        reject(error)
      }
      const stop = (error: StoreError) => {
        if (native === undefined) takeBack()
        else if (job.kill !== undefined) killing(killUntilEnded(native, job.kill))
        fail(error)
      }
      const onAbort = () => stop(new StoreError('cancelled', 394, 'the query was cancelled'))
      const begin = (leave: () => void) => {
        try {
          native = start(job, leave)
        } catch (error) {
          leave()
          fail(error)
          return
        }
        native.then((result) => {
          settle()
          resolve(result)
        }, fail)
      }

      if (job.timeoutMs !== undefined) {
        const { timeoutMs } = job
        timer = setTimeout(() => stop(new StoreError('timeout', 159, `no answer within ${timeoutMs} ms`)), timeoutMs)
      }
      job.signal?.addEventListener('abort', onAbort, { once: true })
      try {
        takeBack = places.request(job.projectId, begin, job.signal)
      } catch (error) {
        fail(error)
      }
    })
  }

  function killing(work: Promise<void>): void {
    running.add(work)
    void work.finally(() => running.delete(work))
  }

  return {
    run,
    isBusy: () => running.size > 0,
    async close() {
      closed = true
      while (running.size > 0) await Promise.all(running)
      for (const session of idle.splice(0)) session.close()
    },
  }
}
