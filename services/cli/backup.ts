// `callhouse backup` and `callhouse restore`: on one machine the data folder, else what the ClickHouse server writes.
import { existsSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { commandAudit } from '../app/audit.ts'
import type { Config } from '../app/config.ts'
import { hasEmbeddedStore, hasSharedLog } from '../app/drivers.ts'
import { createLogger } from '../core/process/logger.ts'
import { masterKeyFile } from '../core/process/master-key.ts'
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

/** Beside what the manifest lists: who has it opens the secrets of the backup. */
async function copyMasterKey(from: string, to: string): Promise<void> {
  const [source, target] = [from, to].map((folder) => join(folder, masterKeyFile)) as [string, string]
  if (!existsSync(source)) return
  await copyFile(source, target)
  await chmod(target, 0o600)
  print(`${target} opens the secrets: keep it as closed as they are`)
}

export async function backup(config: Config, folder: string, to: string, withMasterKey: boolean): Promise<void> {
  if (isShared(config)) {
    if (to === '') throw new UsageError(destinationUsage)
    return backupOnServer(config, resolve(folder), to, print)
  }
  oneMachineOnly(config, 'callhouse backup')
  if (to !== '') throw new UsageError(`${destinationUsage}; on one machine the folder is the backup`)
  await transfer(config, 'backup', folder)
  if (withMasterKey) await copyMasterKey(config.dataDir, resolve(folder))
}

export async function restoreBackup(config: Config, folder: string, from: string): Promise<void> {
  if (isShared(config)) return restoreOnServer(config, resolve(folder), from, print)
  oneMachineOnly(config, 'callhouse restore')
  if (from !== '') throw new UsageError('--from is for the backup of a ClickHouse server')
  await restore(resolve(folder), config.dataDir, print)
  await copyMasterKey(resolve(folder), config.dataDir)
  // Not before: a backup is restored into an empty folder, in which a server finds the event.
  const audit = commandAudit(config, createLogger({ level: 'error' }).log)
  await audit.record({ action: 'restore.ended', scope: '*', target: resolve(folder), actor: 'command' })
  await audit.close()
}
