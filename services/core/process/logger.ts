// Structured log lines (pino, JSON; readable ones on a terminal): one per request and per batch; ids, counts and
// milliseconds, never payloads or keys.
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino'
import { readableLine } from './readable-lines.ts'

export type { Logger }

export type LogOutput = {
  log: Logger
  /** Writes what is buffered; to be called last at shutdown. */
  flush(): void
}

type LogFormat = 'auto' | 'json' | 'text'

type LoggerOptions = { level: string; format?: LogFormat; out?: DestinationStream }

/** Each line at once, as whoever looks at it expects. */
export const readableLines = (out: DestinationStream): DestinationStream => ({
  write(json) {
    const line = readableLine(json)
    if (line !== undefined) out.write(`${line}\n`)
  },
})

/**
 * @param format `auto`: text on a terminal, else JSON
 * @param out where lines go: standard output unless told. Lines to standard output are gathered for up to half a
 * second, because a system call per request is a measurable part of its cost; errors go out at once.
 */
export function createLogger({ level, format = 'json', out }: LoggerOptions): LogOutput {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime }
  if (out !== undefined) return { log: pino(options, out), flush: () => {} }
  if (format === 'text' || (format === 'auto' && process.stdout.isTTY))
    return { log: pino(options, readableLines({ write: (line) => process.stdout.write(line) })), flush: () => {} }
  const stdout = destination({ fd: 1, sync: false, minLength: 8192, periodicFlush: 500 })
  const flush = () => {
    try {
      stdout.flushSync()
    } catch {
      // The reader of standard output has gone, or nothing was opened yet: there is no one to tell.
    }
  }
  const log = pino(
    {
      ...options,
      hooks: {
        logMethod(args, method, number) {
          method.apply(this, args)
          if (number >= 50) flush()
        },
      },
    },
    stdout,
  )
  return { log, flush }
}
