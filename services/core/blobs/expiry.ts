// Removes contents of a folder that are older than what refers to them.
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Other processes may do the same at the same time. */
const gone = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null
  throw error
}

/** @returns how many files were removed */
export async function removeOlder(dir: string, beforeMs: number): Promise<number> {
  let removed = 0
  for (const entry of (await readdir(dir, { withFileTypes: true }).catch(gone)) ?? []) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) removed += await removeOlder(path, beforeMs)
    else {
      const found = await stat(path).catch(gone)
      if (found === null || found.mtimeMs >= beforeMs) continue
      await unlink(path).catch(gone)
      removed++
    }
  }
  return removed
}
