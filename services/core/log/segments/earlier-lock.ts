// The lock of builds before the kernel's was used: files `lock-<number>` in the log's folder, written every 10 s.
import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreMissing } from '../../files/disk.ts'
import { decodeHolder, type Holder } from '../../process/holder.ts'

const lockFile = /^lock-(\d{8}|.*\.tmp)$/
/** Two of its beats, and some time for a busy disk. */
const silenceMs = 25_000
const pollMs = 250

const writtenMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

/** The process that may still hold it: the lock was not given back (process 0), and was written a short while ago. */
async function holderOf(path: string): Promise<Holder | undefined> {
  const holder = decodeHolder(await readFile(path, 'utf8').catch(() => ''))
  const isRecent = Math.abs(Date.now() - (await writtenMs(path))) < silenceMs
  return holder?.pid && isRecent ? holder : undefined
}

/**
 * Removes such files when no process keeps them any more. One that was written a short while ago is watched: its
 * process may have been killed, or live where it cannot be seen.
 * @param onWait told once when that takes time
 * @throws Error with a line that says who still writes its lock after `waitMs`
 */
export async function waitForEarlierBuild(dir: string, onWait: (line: string) => void, waitMs = 10_000): Promise<void> {
  const beganMs = Date.now()
  for (const name of (await readdir(dir)).filter((one) => lockFile.test(one))) {
    const path = join(dir, name)
    const firstMs = await writtenMs(path)
    let hasSaid = false
    for (let holder = await holderOf(path); holder !== undefined; holder = await holderOf(path)) {
      const line = `${dir} is in use by process ${holder.pid} on ${holder.host}, of an earlier version`
      if ((await writtenMs(path)) !== firstMs && Date.now() - beganMs >= waitMs) throw new Error(line)
      if (!hasSaid) onWait(`${line}, or was until a moment ago: waits until that is certain`)
      hasSaid = true
      await sleep(pollMs)
    }
    await unlink(path).catch(ignoreMissing)
  }
}
