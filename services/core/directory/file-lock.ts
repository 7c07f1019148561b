// Several processes change one file, for a moment each: one at a time, and what a process held that died is free at once.
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { unavailable } from '../errors.ts'
import { type KernelLock, kernelLock } from '../process/kernel-lock.ts'

const waitMs = 500
const pollMs = 20
/**
 * Age of a stale lock where the kernel has no locks: work takes milliseconds, so an older file was left by a process
 * that died.
 */
const staleMs = 5_000

/** @param take returns undefined while somebody else has it */
function waitFor<T>(take: () => T | undefined): T {
  const giveUpAt = Date.now() + waitMs
  for (;;) {
    const taken = take()
    if (taken !== undefined) return taken
    if (Date.now() > giveUpAt)
      throw unavailable('Another command is changing the directory; try again in a few seconds')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs)
  }
}

function withFile<T>(path: string, work: () => T): T {
  waitFor(() => {
    const left = statSync(path, { throwIfNoEntry: false })
    if (left !== undefined && Date.now() - left.mtimeMs > staleMs) rmSync(path, { force: true })
    try {
      closeSync(openSync(path, 'wx', 0o600))
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return undefined
    }
  })
  try {
    return work()
  } finally {
    rmSync(path, { force: true })
  }
}

/**
 * @param path a file that stays; who has it locked works
 * @throws Refusal `unavailable` when another process has it for half a second
 */
export function withLock<T>(path: string, work: () => T, lock: KernelLock = kernelLock): T {
  const handle = openSync(path, 'a', 0o600)
  try {
    const taken = waitFor(() => {
      const state = lock(handle)
      return state === 'held' ? undefined : state
    })
    return taken === 'none' ? withFile(`${path}.held`, work) : work()
  } finally {
    closeSync(handle)
  }
}
