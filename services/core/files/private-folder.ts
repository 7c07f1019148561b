// Keeps a folder to the user who runs the server, or to that user's group where several processes share it.
import { chmod, lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export type Reach = 'user' | 'group'

/** Rights that nobody else may have. */
const foreignRights: Record<Reach, number> = { user: 0o077, group: 0o007 }

/** The umask of new files and folders. */
export const umaskOf = (reach: Reach): number => (reach === 'user' ? 0o077 : 0o027)

const sticky = 0o1000

/** Links have no rights of their own. */
async function modesIn(folder: string): Promise<{ path: string; mode: number }[]> {
  const entries = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      const found = await lstat(path).catch(() => undefined)
      return found === undefined || found.isSymbolicLink() ? [] : [{ path, mode: found.mode }]
    }),
  )
  return entries.flat()
}

/** The paths that others can enter: the folder, and then its contents. Nothing while the folder is closed. */
export async function openToOthers(folder: string, reach: Reach): Promise<string[]> {
  const rights = foreignRights[reach]
  const { mode } = await stat(folder)
  if ((mode & rights) === 0) return []
  return [{ path: folder, mode }, ...(await modesIn(folder))]
    .filter((one) => (one.mode & rights) !== 0)
    .map((one) => `${one.path} (${(one.mode & 0o777).toString(8)})`)
}

/**
 * Takes the rights of others away, as far as this user may. A folder that everybody may write into, as /tmp, is not
 * ours. One that belongs to somebody else, as a mounted volume may, stays; what it holds is closed then.
 */
export async function closeToOthers(folder: string, reach: Reach): Promise<void> {
  const rights = foreignRights[reach]
  const close = ({ path, mode }: { path: string; mode: number }): Promise<boolean> =>
    chmod(path, mode & 0o7777 & ~rights).then(
      () => true,
      () => false,
    )
  const { mode } = await stat(folder)
  if ((mode & rights) === 0 || (mode & sticky) !== 0 || (await close({ path: folder, mode }))) return
  for (const one of await modesIn(folder)) if ((one.mode & rights) !== 0) await close(one)
}
