// A process takes its data folder.
import { mkdir } from 'node:fs/promises'
import { closeToOthers, openToOthers } from '../core/files/private-folder.ts'
import { type FolderLock, takeLock } from '../core/process/folder-lock.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Services } from '../core/process/services.ts'
import { refuseUnfinished } from '../operations/backup/unfinished.ts'
import type { Config } from './config.ts'
import { hasOwnEngine, reachOf } from './drivers.ts'

/** Before anything is read or written there: the folder is this process's, or stays as it is. */
export async function takeFolder(config: Config, logger: Logger, services: Services): Promise<FolderLock | undefined> {
  const { dataDir } = config
  const lock = await services.start({
    name: 'data folder',
    start: () => (hasOwnEngine(config) ? takeLock(dataDir) : undefined),
    stop: (taken) => taken.release(),
  })
  if (!lock) await mkdir(dataDir, { recursive: true, mode: 0o750 })
  await closeToOthers(dataDir, reachOf(config))
  const entrances = await openToOthers(dataDir, reachOf(config))
  if (entrances.length > 0) logger.warn({ entrances: entrances.slice(0, 20) }, 'others can get into the data folder')
  refuseUnfinished(dataDir)
  return lock
}
