// The mark of a data folder that is being restored: no server may start on it before it is whole.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const unfinishedMark = 'restore-unfinished'

/** @throws Error when a restore into the folder was broken off */
export function refuseUnfinished(dataDir: string): void {
  if (existsSync(join(dataDir, unfinishedMark)))
    throw new Error(`${dataDir} was not wholly restored: empty it and run callhouse restore again`)
}
