// The lock of builds before the kernel's was used: files `lock-<number>` in the log's folder, written every 10 s.
import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreMissing } from './disk.ts'

const lockFile = /^lock-(\d{8}|.*\.tmp)$/
/** Two of its beats, and some time for a busy disk. */
const silenceMs = 25_000
const pollMs = 250

/**
 * Removes such files when no process keeps them any more. One that fell silent a moment ago is watched: its process may
 * have been killed, or live where it cannot be seen.
 * @throws Error with a line that says who still writes its lock
 */
export async function waitForEarlierBuild(dir: string): Promise<void> {
  const files = (await readdir(dir)).filter((name) => lockFile.test(name))
  for (const path of files.map((name) => join(dir, name))) {
    const text = await readFile(path, 'utf8').catch(() => '')
    const { pid, host } = (text.replaceAll('\0', '') === '' ? { pid: 0 } : JSON.parse(text)) as Record<string, unknown>
    const { mtimeMs } = await stat(path)
    while (pid !== 0 && Math.abs(Date.now() - mtimeMs) < silenceMs) {
      if ((await stat(path)).mtimeMs !== mtimeMs)
        throw new Error(`${dir} is in use by process ${pid} on ${host}, of an earlier version`)
      await sleep(pollMs)
    }
    await unlink(path).catch(ignoreMissing)
  }
}
