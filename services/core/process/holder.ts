// Reads the holder of a folder from its lock file, and finds out whether that process has ended.
import { randomUUID } from 'node:crypto'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'

export type Holder = {
  /** New with each lock that is taken. */
  id: string
  pid: number
  host: string
  /** Start of the process, in clock ticks since boot; '' where that cannot be known. */
  startTicks: string
  /** Id of the kernel's boot; another one is another machine, or this one before it was started again. */
  bootId: string
  /** Process numbers mean something within it only. */
  pidNamespace: string
  since: string
}

/** All records have one length, so that one write replaces another one wholly. */
const recordBytes = 512

const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

export async function describeSelf(): Promise<Holder> {
  return {
    id: randomUUID(),
    pid: process.pid,
    host: hostname(),
    startTicks: (await statOf(process.pid)).startTicks,
    bootId: (await text('/proc/sys/kernel/random/boot_id')).trim(),
    pidNamespace: await readlink('/proc/self/ns/pid').catch(() => ''),
    since: new Date().toISOString(),
  }
}

export const encodeHolder = (holder: Holder): Buffer =>
  Buffer.from(`${JSON.stringify(holder).padEnd(recordBytes - 1)}\n`)

/** Undefined when nobody holds it; a power failure can leave a file without its content, which no process survived. */
export function decodeHolder(record: string): Holder | undefined {
  try {
    return JSON.parse(record) as Holder
  } catch {
    return undefined
  }
}

export const isSameKernel = (a: Holder, b: Holder): boolean => a.bootId === b.bootId

/** Whether processes of one are seen by the other. */
export const isSameNamespace = (a: Holder, b: Holder): boolean =>
  isSameKernel(a, b) && a.pidNamespace === b.pidNamespace

/**
 * Whether a holder in the same PID namespace has ended. A process whose parent has not asked for its end yet counts as
 * ended.
 */
export async function hasEnded({ pid, startTicks }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  const found = await statOf(pid)
  if (found.startTicks !== '' && startTicks !== '' && found.startTicks !== startTicks) return true
  if (found.state !== 'Z' && found.state !== 'X') return false
  // Its other threads may still be ending.
  return (await readdir(`/proc/${pid}/task`).catch(() => [])).length <= 1
}

/** proc(5), fields 3 and 22 of stat; '' where there is no /proc. */
async function statOf(pid: number): Promise<{ state: string; startTicks: string }> {
  const stat = await text(`/proc/${pid}/stat`)
  // The second field is the command in parentheses and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '' }
}
