// Tries rows in a child process with an engine of its own, and interprets how it ended.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/** `too-much` = the engine survived, for want of memory or time it had not the whole of the rows. */
export type ProbeResult = 'survived' | 'ended' | 'too-much'

/** Nothing was learnt: the child was ended from outside, took too long or could not begin. */
type Undecided = { undecided: string; detail?: string }

/** Whether the rows of the file make the engine end its process. */
export type CrashProbe = (topic: string, file: string, signal: AbortSignal) => Promise<ProbeResult | Undecided>

/** Exit code of a child whose engine refused the rows for want of memory or time. */
export const tooMuchExitCode = 3

/** A process gets these for a fault of its own. SIGKILL may come from whoever is short of memory, SIGTERM from anyone. */
const faults = new Set<string>(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'])

const signalOf = (code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]

function outcomeOf(code: number | null, signal: string | null): ProbeResult | Undecided {
  if (code === 0) return 'survived'
  if (code === tooMuchExitCode) return 'too-much'
  const name = signal ?? signalOf(code ?? 0)
  if (name === undefined) return { undecided: `a child process ended with ${code}` }
  return faults.has(name) ? 'ended' : { undecided: `a child process was ended by ${name}` }
}

const probeScript = fileURLToPath(new URL('../probe-process.ts', import.meta.url))
const keptErrorChars = 1_000

/** @param options.memoryCapBytes memory of the child's engine */
export function probeInChild(
  options: { script?: string; timeoutMs?: number; memoryCapBytes?: number } = {},
): CrashProbe {
  const { script = probeScript, timeoutMs = 180_000, memoryCapBytes = 2 ** 31 } = options
  return (topic, file, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [script, topic, file, String(memoryCapBytes)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stopped: string | undefined
      let detail = ''
      const stop = (why: string): void => {
        stopped ??= why
        child.kill('SIGKILL')
      }
      const onAbort = (): void => stop('the worker stops')
      const timer = setTimeout(stop, timeoutMs, `a child process took more than ${timeoutMs / 1000} s`)
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      child.stderr.on('data', (chunk: Buffer) => {
        detail = (detail + chunk.toString()).slice(-keptErrorChars)
      })
      child.once('error', (error) => {
        done()
        reject(error)
      })
      child.once('close', (code, by) => {
        done()
        const outcome = stopped === undefined ? outcomeOf(code, by) : { undecided: stopped }
        resolve(typeof outcome === 'string' ? outcome : { ...outcome, detail })
      })
    })
}
