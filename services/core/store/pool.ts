// Connections to the embedded engine: each runs one statement at a time, and one that failed is never used again.
import type { Session } from 'chdb'
import { StoreError } from './store.ts'

export type EngineResult = { bytes(): Uint8Array; rowsRead: number }

type Job = {
  sql: string
  format: string
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

type Waiter = { begin(session: Session): void; fail(error: unknown): void }

/** Between two attempts to kill: the statement may not have been registered yet when the first one came. */
const killEveryMs = 100

/**
 * @param open opens one connection with the settings of this pool
 * @param maxWaiting statements that may wait for a connection; one more is refused as an outage
 */
export function createPool(options: { name: string; size: number; maxWaiting: number; open: () => Session }): Pool {
  const { name, size, maxWaiting, open } = options
  const idle: Session[] = []
  const waiting: Waiter[] = []
  const running = new Set<Promise<unknown>>()
  let opened = 0
  let closed = false

  function take(): Session | undefined {
    const session = idle.pop()
    if (session !== undefined) return session
    if (opened >= size) return
    opened++
    try {
      return open()
    } catch (error) {
      opened--
      throw new StoreError(
        'outage',
        0,
        `no connection to the engine: ${error instanceof Error ? error.message : error}`,
      )
    }
  }

  function give(session: Session, isClean: boolean): void {
    const waiter = waiting.shift()
    if (isClean) {
      if (waiter === undefined) idle.push(session)
      else waiter.begin(session)
      return
    }
    // What a failed statement had already put out would come before the next one's result.
    session.close()
    opened--
    if (waiter === undefined) return
    try {
      waiter.begin(take() as Session)
    } catch (error) {
      waiter.fail(error)
    }
  }

  function start(session: Session, job: Job): Promise<EngineResult> {
    const native = session.queryAsync(job.sql, { format: job.format })
    const tracked = native.then(
      () => give(session, true),
      () => give(session, false),
    )
    running.add(tracked)
    tracked.finally(() => running.delete(tracked))
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
      let waiter: Waiter | undefined
      let timer: NodeJS.Timeout | undefined

      const settle = () => {
        clearTimeout(timer)
        job.signal?.removeEventListener('abort', onAbort)
      }
      const stop = (error: StoreError) => {
        settle()
        if (native === undefined) waiting.splice(waiting.indexOf(waiter as Waiter), 1)
        else if (job.kill !== undefined) killing(killUntilEnded(native, job.kill))
        reject(error)
      }
      const onAbort = () => stop(new StoreError('cancelled', 394, 'the query was cancelled'))
      const begin = (session: Session) => {
        native = start(session, job)
        native.then(
          (result) => {
            settle()
            resolve(result)
          },
          (error) => {
            settle()
            reject(error)
          },
        )
      }

      let session: Session | undefined
      try {
        session = take()
      } catch (error) {
        reject(error)
        return
      }
      if (session === undefined && waiting.length >= maxWaiting) {
        reject(new StoreError('outage', 202, `too many statements wait for the ${name} connections`))
        return
      }
      if (job.timeoutMs !== undefined) {
        const { timeoutMs } = job
        timer = setTimeout(() => stop(new StoreError('timeout', 159, `no answer within ${timeoutMs} ms`)), timeoutMs)
      }
      job.signal?.addEventListener('abort', onAbort, { once: true })
      if (session !== undefined) begin(session)
      else {
        waiter = {
          begin,
          fail(error) {
            settle()
            reject(error)
          },
        }
        waiting.push(waiter)
      }
    })
  }

  function killing(work: Promise<void>): void {
    running.add(work)
    work.finally(() => running.delete(work))
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
