// One process per data folder: takes the folder's lock, or says who holds it.
import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { errorCode } from './disk.ts'

export type Lock = { release(): Promise<void> }

/** What a lock file says. pid 0 = released. */
type Holder = { pid: number; host: string; startTicks: string; bootId: string; since: string }

/**
 * Lock files are numbered and the greatest number counts. Taking over a released or dead lock means creating the next
 * number by `link`, which only one starter can do, and the greatest file is never removed: so a starter that read an
 * old state cannot remove a lock that was taken meanwhile. Releasing replaces the content by "nobody".
 */
/** How often the holder touches its lock, and after which silence a lock from another machine or container is dead. */
const beatMs = 10_000
const silenceMs = 60_000

const lockName = /^lock-(\d{8})$/

export async function takeLock(dir: string): Promise<Lock> {
  await mkdir(dir, { recursive: true })
  const own: Holder = { pid: process.pid, host: hostname(), since: new Date().toISOString(), ...(await ownTimes()) }
  for (;;) {
    const current = await greatest(dir)
    if (current > 0) {
      const path = lockPath(dir, current)
      const holder = await readHolder(path)
      if (holder === 'gone') continue
      if (await isHeld(holder, path))
        throw new Error(
          `${dir} is in use by process ${holder.pid} on ${holder.host} since ${holder.since}` +
            (holder.host === own.host
              ? ''
              : `; if that machine or container is gone, its lock is dead ${silenceMs / 1000} s after its last sign of life`),
        )
    }
    const path = lockPath(dir, current + 1)
    const temporary = join(dir, `lock-${randomUUID()}.tmp`)
    await writeFile(temporary, JSON.stringify(own), { flag: 'wx' })
    try {
      await link(temporary, path)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue
      throw error
    } finally {
      await unlink(temporary)
    }
    // Somebody may have been there first with an even greater number: then this one means nothing.
    if ((await greatest(dir)) !== current + 1) {
      await unlink(path).catch(() => {})
      continue
    }
    for (const name of await readdir(dir))
      if (numberOf(name) > 0 && numberOf(name) <= current) await unlink(join(dir, name)).catch(() => {})
    const beating = setInterval(() => {
      const now = new Date()
      // A beat that fails is followed by the next one; a folder that is gone fails every write to the log too.
      utimes(path, now, now).catch(() => {})
    }, beatMs)
    beating.unref()
    return {
      async release() {
        clearInterval(beating)
        const released = join(dir, `lock-${randomUUID()}.tmp`)
        await writeFile(released, JSON.stringify({ ...own, pid: 0 }))
        await rename(released, path)
      },
    }
  }
}

const lockPath = (dir: string, number: number): string => join(dir, `lock-${String(number).padStart(8, '0')}`)
const numberOf = (name: string): number => Number(lockName.exec(name)?.[1] ?? 0)

async function greatest(dir: string): Promise<number> {
  return (await readdir(dir)).reduce((max, name) => Math.max(max, numberOf(name)), 0)
}

async function readHolder(path: string): Promise<Holder | 'gone'> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone'
    throw error
  }
  // A power failure can leave a lock file without its content; no process survived that.
  if (text.replaceAll('\0', '') === '') return { pid: 0, host: '', startTicks: '', bootId: '', since: '' }
  return JSON.parse(text) as Holder
}

async function isHeld(holder: Holder, path: string): Promise<boolean> {
  if (holder.pid === 0) return false
  // Processes of another machine or container cannot be seen from here, only the beat of their lock.
  if (holder.host !== hostname()) {
    const seenMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
    return Date.now() - seenMs < silenceMs
  }
  const { bootId } = await ownTimes()
  if (bootId !== '' && holder.bootId !== '' && bootId !== holder.bootId) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false
  }
  const startTicks = await startTicksOf(holder.pid)
  return startTicks === '' || holder.startTicks === '' || startTicks === holder.startTicks
}

async function ownTimes(): Promise<{ startTicks: string; bootId: string }> {
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  return { startTicks: await startTicksOf(process.pid), bootId: bootId.trim() }
}

/** When the process started, in clock ticks since boot (proc(5), field 22 of stat); '' where there is no /proc. */
async function startTicksOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the command in parentheses and may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
