// The kernel's lock on an open file: released when the process ends, however it ends; children do not inherit it.

/** `none` = the file system, or this platform, has no locks. */
export type KernelLock = (fd: number) => 'taken' | 'held' | 'none'

/** Platforms for which the binding has no binary. */
const withoutBinary = ['ADDON_NOT_FOUND', 'CANNOT_LOAD']

const binding = await import('fs-native-extensions').catch((error: Error & { code?: string }) => {
  if (withoutBinary.includes(error.code ?? '')) return undefined
  throw error
})

/**
 * The lock belongs to the open file (fcntl(2), open file description locks; flock(2) on macOS), not to the process:
 * reading the same file elsewhere in the process does not release it, and a second open of it is refused here too.
 */
export const kernelLock: KernelLock = (fd) => {
  if (binding === undefined) return 'none'
  try {
    return binding.tryLock(fd) ? 'taken' : 'held'
  } catch {
    // ENOLCK, ENOTSUP, ENOSYS, … Whatever the reason, nothing is known about others then.
    return 'none'
  }
}
