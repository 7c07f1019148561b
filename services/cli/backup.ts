// `callhouse backup` and `callhouse restore`: on one machine the data folder, else what the ClickHouse server writes.
import { resolve } from 'node:path'
import type { Config } from '../app/config.ts'
import { hasEmbeddedStore, hasSharedLog } from '../app/drivers.ts'
import { restore } from '../operations/backup/restore.ts'
import { isShared } from './ask.ts'
import { backupOnServer, restoreOnServer } from './backup-on-server.ts'
import { print, UsageError } from './command.ts'
import { transfer } from './transfer.ts'

const oneMachineOnly = (config: Config, what: string): void => {
  if (hasSharedLog(config) || !hasEmbeddedStore(config))
    throw new UsageError(`${what} works on one machine, or with Kafka and a ClickHouse server, not with one of the two`)
}

const destinationUsage =
  "--to <destination> names where the ClickHouse server puts the backup, for instance \"Disk('backups', '2026-01-31')\""

export async function backup(config: Config, folder: string, to: string): Promise<void> {
  if (isShared(config)) {
    if (to === '') throw new UsageError(destinationUsage)
    return backupOnServer(config, resolve(folder), to, print)
  }
  oneMachineOnly(config, 'callhouse backup')
  if (to !== '') throw new UsageError(`${destinationUsage}; on one machine the folder is the backup`)
  await transfer(config, 'backup', folder)
}

export async function restoreBackup(config: Config, folder: string, from: string): Promise<void> {
  if (isShared(config)) return restoreOnServer(config, resolve(folder), from, print)
  oneMachineOnly(config, 'callhouse restore')
  if (from !== '') throw new UsageError('--from is for the backup of a ClickHouse server')
  await restore(resolve(folder), config.dataDir, print)
}
