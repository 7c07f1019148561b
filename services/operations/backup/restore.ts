// Makes a data folder of a backup, once every file of it was found whole.
import { mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nodeFs } from '../../core/files/disk.ts'
import { closeToOthers } from '../../core/files/private-folder.ts'
import { lockName, takeLock } from '../../core/process/folder-lock.ts'
import { quantity } from '../../core/quantity.ts'
import {
  type BackupBody,
  type BackupFile,
  copyFile,
  dataName,
  eachOf,
  readBackup,
  rowsOfParts,
  sizeAndDigest,
  syncFolders,
} from './folder.ts'
import { unfinishedMark } from './unfinished.ts'

/**
 * @param print told what is done
 * @param before runs once all files are there, before the folder counts as restored
 * @throws Error with a line for the operator; before the first file is written when the backup is not whole
 */
export async function restore(
  folder: string,
  dataDir: string,
  print: (line: string) => void,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const { manifest, files } = await readBackup(folder)
  const data = join(folder, dataName)
  await refuseFilled(dataDir)
  const checked = quantity(manifest.files, 'file')
  print(`restore ${folder}: checks ${checked}, begun at ${manifest.begunAt} by ${manifest.callhouse}`)
  await eachOf(files, async ({ path, sizeBytes, sha256 }) => {
    const at = join(data, path)
    const found = await stat(at).catch(() => null)
    if (found === null) throw new Error(`${at} is missing`)
    if (found.size !== sizeBytes)
      throw new Error(`${at} is damaged: it has ${quantity(found.size, 'byte')} instead of ${sizeBytes}`)
    if ((await sizeAndDigest(at)).sha256 !== sha256) throw new Error(`${at} is damaged: its digest differs`)
  })
  const rows = await rowsOfParts(
    data,
    files.map(({ path }) => path),
  )
  const [stored, listed] = [rows.values(), Object.values(manifest.tables)].map((counts) =>
    [...counts].reduce((sum, count) => sum + count, 0),
  )
  if (stored !== listed)
    throw new Error(`${folder} is damaged: it has ${quantity(stored ?? 0, 'row')} instead of ${listed}`)

  const lock = await takeLock(dataDir)
  try {
    // Somebody may have been faster while the files were checked.
    await refuseFilled(dataDir)
    await closeToOthers(dataDir, 'user')
    await fill(dataDir, data, manifest.links, files, folder, before)
  } finally {
    await lock.release()
  }
  print(`restore ${folder}: done, ${quantity(files.length, 'file')} and ${quantity(listed ?? 0, 'row')} in ${dataDir}`)
}

async function refuseFilled(dataDir: string): Promise<void> {
  const present = (await readdir(dataDir).catch(() => [])).filter((name) => name !== lockName)
  if (present.length > 0) throw new Error(`${dataDir} is not empty: a backup is restored into an empty data folder`)
}

async function fill(
  dataDir: string,
  data: string,
  links: BackupBody['links'],
  files: BackupFile[],
  folder: string,
  before: () => Promise<void>,
): Promise<void> {
  const mark = join(dataDir, unfinishedMark)
  await writeFile(mark, folder, { flush: true })
  await nodeFs.syncDir(dataDir)
  await eachOf(files, async ({ path, sha256 }) => {
    const copied = await copyFile(join(data, path), join(dataDir, path))
    if (copied.sha256 !== sha256) throw new Error(`${join(data, path)} changed while it was copied`)
  })
  for (const { path, target } of links) {
    await mkdir(dirname(join(dataDir, path)), { recursive: true })
    await symlink(target, join(dataDir, path))
  }
  await syncFolders(dataDir)
  await before()
  await rm(mark)
  await nodeFs.syncDir(dataDir)
}
