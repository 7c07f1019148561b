// Orderly end of the process: named steps in order, each with a time limit; a second signal ends it at once.
import type { Logger } from './logger.ts'

export type ShutdownStep = { name: string; limitMs: number; close: () => Promise<void> | void }

export type Shutdown = {
  /** True from the first signal on: new requests are answered 503. */
  isShuttingDown(): boolean
  /** Runs the steps once; resolves with true when each of them ended in time and without error. */
  run(reason: string): Promise<boolean>
  /** Runs on SIGTERM and SIGINT, then exits: 0 after an orderly end, 1 otherwise. */
  onSignals(): void
}

/** Settles with the work, or rejects when it takes longer. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${limitMs} ms`)), limitMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * @param steps of the moment at which it begins, in the order in which they run: first stop accepting, last release the
 * data folder. A step that fails or is late is logged, and the next one runs all the same.
 */
export function createShutdown({
  log,
  steps,
  signals = process,
  exit = (code) => process.exit(code),
}: {
  log: Pick<Logger, 'info' | 'error'>
  steps(): readonly ShutdownStep[]
  signals?: { on(name: 'SIGTERM' | 'SIGINT', handler: () => void): unknown }
  exit?: (code: number) => void
}): Shutdown {
  let running: Promise<boolean> | undefined

  async function runSteps(reason: string): Promise<boolean> {
    log.info({ reason }, 'shutting down')
    let orderly = true
    for (const { name, limitMs, close } of steps()) {
      const startedMs = performance.now()
      try {
        await within(limitMs, Promise.resolve().then(close))
        log.info({ step: name, ms: Math.round(performance.now() - startedMs) }, 'closed')
      } catch (error) {
        orderly = false
        log.error({ step: name, reason: error instanceof Error ? error.message : String(error) }, 'not closed')
      }
    }
    return orderly
  }

  const run = (reason: string) => {
    running ??= runSteps(reason)
    return running
  }
  return {
    isShuttingDown: () => running !== undefined,
    run,
    onSignals() {
      for (const signal of ['SIGTERM', 'SIGINT'] as const)
        signals.on(signal, () => {
          if (running !== undefined) return exit(1)
          void run(signal).then((orderly) => exit(orderly ? 0 : 1))
        })
    },
  }
}
