// The mark of a data folder, or of a server's database, that is being restored: nothing may start on it before it is whole.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../core/store/store.ts'

export const unfinishedMark = 'restore-unfinished'

/** The same in a database of a server. */
export const unfinishedTable = 'restore_unfinished'

/** @throws Error when a restore into the folder was broken off */
export function refuseUnfinished(dataDir: string): void {
  if (existsSync(join(dataDir, unfinishedMark)))
    throw new Error(`${dataDir} was not wholly restored: empty it and run callhouse restore again`)
}

/** @throws Error when a restore into the database of a server was broken off, or goes on */
export async function refuseUnfinishedDatabase(store: Pick<Store, 'rows'>, database: string): Promise<void> {
  const found = await store.rows({
    name: 'restore.unfinished',
    sql: 'SELECT name FROM system.tables WHERE database = {database:String} AND name = {table:String}',
    params: { database, table: unfinishedTable },
  })
  if (found.length > 0)
    throw new Error(
      `the database ${database} is not wholly restored: wait for the end of callhouse restore; if it was broken off, DROP DATABASE ${database} and run it again`,
    )
}
