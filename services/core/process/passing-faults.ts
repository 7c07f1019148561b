// Faults of the file system that pass: too few descriptors, too little memory or space, a device that does not answer.

const codes = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'EBUSY', 'EIO'])

/** Whether the same may work later. Other errors mean that a folder is damaged, or is not ours. */
export const isPassing = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && codes.has((error as NodeJS.ErrnoException).code ?? '')
