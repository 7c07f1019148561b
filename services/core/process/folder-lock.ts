// One process per data folder: takes the folder's lock, or says who holds it.
import { existsSync, readFileSync, statSync, writeSync } from 'node:fs'
import { constants, type FileHandle, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeFs } from '../files/disk.ts'
import { endAtOnce } from './end-at-once.ts'
import {
  decodeHolder,
  describeSelf,
  encodeHolder,
  type Holder,
  hasEnded,
  isSameKernel,
  isSameNamespace,
} from './holder.ts'
import { type KernelLock, kernelLock } from './kernel-lock.ts'

/** Its name in the folder. It stays there; what counts is who has it locked, and what it says. */
export const lockName = 'lock'

export type FolderLock = {
  /** Throws when the folder may be another process's by now: before anything is written, and before it is acknowledged. */
  check(): void
  release(): Promise<void>
}

/** The clock of a lock. */
export type LockTime = {
  /** Time of a clock that is never set, and stands still while the machine sleeps. */
  steadyMs(): number
  /** Time of a clock that can be set. */
  wallMs(): number
  wait(ms: number): Promise<unknown>
  /** Runs something again and again, until what it gives is called; does not keep the process alive. */
  repeat(run: () => void, everyMs: number): () => void
}

type LockOptions = {
  /** Longest wait for a holder that is about to end. */
  waitMs?: number
  /** The holder writes its lock and looks whether it still has it. */
  beatMs?: number
  /** A holder that cannot be seen is dead after this silence. */
  silenceMs?: number
  /** Without a look at the lock that is younger, nothing is written. */
  certainMs?: number
  /**
   * Time that the lock file must outlast where the kernel does not decide: longer than `certainMs` of the one before.
   */
  settleMs?: number
  lock?: KernelLock
  time?: LockTime
  /** Called once, when it takes more than a moment. */
  onWait?(line: string): void
  /** The folder is another process's. Does not return: nothing of this process may write any more. */
  onLost?(line: string): void
}

const realTime: LockTime = {
  steadyMs: () => performance.now(),
  wallMs: () => Date.now(),
  wait: (ms) => sleep(ms),
  repeat(run, everyMs) {
    const timer = setInterval(run, everyMs).unref()
    return () => clearInterval(timer)
  },
}

const defaults = {
  waitMs: 10_000,
  beatMs: 5_000,
  silenceMs: 20_000,
  certainMs: 8_000,
  settleMs: 10_000,
  lock: kernelLock,
  time: realTime,
  onWait: (line: string): void => void process.stderr.write(`callhouse: ${line}\n`),
  // An orderly end would write.
  onLost(line: string): void {
    writeSync(2, `callhouse: ${line}\n`)
    endAtOnce()
  },
}
const pollMs = 100

type Attempt = { file: FileHandle } | { holder: Holder | undefined; silentMs: number }

/**
 * The kernel's lock on the file decides between processes of one kernel, whatever their PID namespaces. Where the file
 * system has no locks, or the holder ran under another kernel (where a lock may bind one machine only), the file
 * decides: its holder writes it every few seconds, and who finds it silent writes itself into it, waits longer than
 * the one before would go on without looking, and has the folder if nobody else wrote meanwhile.
 *
 * @throws Error with a line that says who holds the folder, after `waitMs`
 */
export async function takeLock(dir: string, options: LockOptions = {}): Promise<FolderLock> {
  const settings = { ...defaults, ...options }
  const { time } = settings
  const made = await mkdir(dir, { recursive: true, mode: 0o700 })
  if (made !== undefined) await nodeFs.syncDir(dirname(made))
  const path = join(dir, lockName)
  const own = await describeSelf()
  const beganMs = time.steadyMs()
  let hasSaid = false
  const tell = (line: string): void => {
    if (!hasSaid) settings.onWait(line)
    hasSaid = true
  }
  for (;;) {
    const attempt = await tryLock(path, own, settings, () =>
      tell(`nothing locks ${dir} for certain: waits ${settings.settleMs / 1000} s until nobody else can be using it`),
    )
    if ('file' in attempt) return hold(attempt.file, path, own, settings)
    const { holder, silentMs } = attempt
    const line = `${dir} is in use by ${holder === undefined ? 'another process' : nameOf(holder, own, settings)}`
    // One that has fallen silent is waited for until it counts as dead.
    if (time.steadyMs() - beganMs >= settings.waitMs && silentMs < 1.5 * settings.beatMs) throw new Error(line)
    tell(`${line}; waits up to ${settings.waitMs / 1000} s for it to end`)
    await time.wait(pollMs)
  }
}

function nameOf(holder: Holder, own: Holder, { silenceMs }: { silenceMs: number }): string {
  const name = `process ${holder.pid} on ${holder.host} since ${holder.since}`
  if (isSameNamespace(holder, own)) return name
  return isSameKernel(holder, own)
    ? `${name}, in another container or PID namespace`
    : `${name}; if that machine is gone, its lock is dead ${silenceMs / 1000} s after its last sign of life`
}

async function tryLock(
  path: string,
  own: Holder,
  { lock, silenceMs, settleMs, time }: Required<LockOptions>,
  onSettle: () => void,
): Promise<Attempt> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  let isTaken = false
  try {
    const state = lock(file.fd)
    const holder = decodeHolder(await file.readFile('utf8'))
    // Somebody removed the file between opening and locking it.
    if (state === 'held' || !isSameFile(path, await file.stat())) return { holder, silentMs: 0 }
    if (state === 'none' || (holder !== undefined && !isSameKernel(holder, own))) {
      const silentMs = holder === undefined ? silenceMs : await silenceOf(holder, own, path, silenceMs)
      if (silentMs < silenceMs) return { holder, silentMs }
      await write(file, own)
      onSettle()
      await time.wait(settleMs)
      const found = decodeHolder(readFileSync(path, 'utf8'))
      if (found?.id !== own.id) return { holder: found, silentMs: 0 }
    } else await write(file, own)
    isTaken = true
    return { file }
  } finally {
    if (!isTaken) await file.close()
  }
}

const write = async (file: FileHandle, own: Holder): Promise<void> => {
  await file.write(encodeHolder(own), 0, null, 0)
  await file.datasync()
}

function isSameFile(path: string, { dev, ino }: { dev: number; ino: number }): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.ino === ino && found.dev === dev
}

/** Time since the last sign of a holder. One that can be seen is silent for ever when it has ended, else never. */
async function silenceOf(holder: Holder, own: Holder, path: string, silenceMs: number): Promise<number> {
  if (isSameNamespace(holder, own)) return (await hasEnded(holder)) ? silenceMs : 0
  // The clock is that of the file system, which may be another machine's: the time of a file that is written now.
  const probe = `${path}-${own.id}.tmp`
  const file = await open(probe, 'wx', 0o600)
  try {
    await write(file, own)
    const [now, last] = [await file.stat(), await stat(path)]
    return now.mtimeMs - last.mtimeMs
  } finally {
    await file.close()
    await unlink(probe)
  }
}

async function hold(
  file: FileHandle,
  path: string,
  own: Holder,
  { beatMs, certainMs, time, onLost }: Required<LockOptions>,
): Promise<FolderLock> {
  const identity = await file.stat()
  let lost: string | undefined
  const nowMs = () => ({ steady: time.steadyMs(), wall: time.wallMs() })
  let seenMs = nowMs()
  let beating: Promise<void> | undefined

  /** Both clocks: one stands still while the machine sleeps, the other one can be set. */
  const isRecent = (): boolean => {
    const { steady, wall } = nowMs()
    return steady - seenMs.steady < certainMs && Math.abs(wall - seenMs.wall) < certainMs
  }

  /** Throws when the disk does not answer, which is no proof. */
  function look(): void {
    const now = nowMs()
    const found = existsSync(path) ? decodeHolder(readFileSync(path, 'utf8')) : undefined
    if (found?.id === own.id && isSameFile(path, identity)) {
      seenMs = now
      return
    }
    stopBeating()
    const how = found === undefined ? 'it was removed' : `process ${found.pid} on ${found.host} took it`
    lost = `the lock ${path} is lost: ${how}`
    onLost(`${lost}; ended at once, since another process may use the folder`)
  }

  const stopBeating = time.repeat(() => {
    try {
      look()
    } catch {
      // check() says so when it matters.
      return
    }
    // One that fails is followed by the next one.
    if (lost === undefined) beating ??= write(file, own).then(forget, forget)
  }, beatMs)
  const forget = (): void => {
    beating = undefined
  }

  return {
    check() {
      if (lost === undefined && !isRecent()) look()
      if (lost !== undefined) throw new Error(lost)
    },
    async release() {
      stopBeating()
      await beating
      // A file that another process wrote or made is left as it is.
      const isOwn = decodeHolder(await readFile(path, 'utf8').catch(() => ''))?.id === own.id
      try {
        if (isOwn) await file.truncate(0)
      } finally {
        await file.close()
      }
    },
  }
}
