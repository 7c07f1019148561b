// `callhouse backup` and `callhouse restore`: on one machine the data folder, else what the ClickHouse server writes.
import { existsSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { commandAudit } from '../app/audit.ts'
import type { Config } from '../app/config.ts'
import { hasEmbeddedStore, hasSharedLog } from '../app/drivers.ts'
import { projectRemoval } from '../core/directory/removed-projects.ts'
import type { ProjectId } from '../core/ids.ts'
import { createLogger } from '../core/process/logger.ts'
import { masterKeyFile } from '../core/process/master-key.ts'
import { leaveErased, readErased } from '../operations/backup/erased.ts'
import { restore } from '../operations/backup/restore.ts'
import { isShared } from './ask.ts'
import { backupOnServer, eraseAgainOnServer, restoreOnServer } from './backup-on-server.ts'
import { print, UsageError } from './command.ts'
import { withDirectory } from './directory.ts'
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

/** @param erasures a file of `erasures export`, 'none', or '' which is said aloud */
export async function restoreBackup(config: Config, folder: string, from: string, erasures: string): Promise<void> {
  const file = erasures === '' || erasures === 'none' ? undefined : resolve(erasures)
  // Before anything is made: a file that cannot be used would leave a data folder in which erased calls are back.
  const removed = file === undefined ? [] : await removedProjectsOf(file)
  if (isShared(config)) {
    await restoreOnServer(config, resolve(folder), from, print)
    if (file !== undefined) await eraseAgainOnServer(config, file, print)
    await removeProjects(config, removed)
  } else
    await restoreOnOneMachine(config, folder, from, async () => {
      if (file !== undefined) await leaveErased(config.dataDir, file)
      await removeProjects(config, removed)
    })
  if (file !== undefined) print(`the data in ${file} is deleted again, and removed for good`)
  if (erasures === '')
    print(
      'calls that were erased since this backup are back: --erasures <file> deletes them again, none says that it is meant',
    )
}

/** @throws Error that names the line which cannot be used */
async function removedProjectsOf(file: string): Promise<{ projectId: string; atMs: number }[]> {
  const found: { projectId: string; atMs: number }[] = []
  for await (const line of readErased(file))
    if ('removed_at' in line) found.push({ projectId: line.project_id, atMs: Date.parse(line.removed_at) })
  return found
}

async function removeProjects(config: Config, removed: readonly { projectId: string; atMs: number }[]): Promise<void> {
  if (removed.length === 0) return
  await withDirectory(config, async (directory) => {
    for (const { projectId, atMs } of removed) {
      const state = directory.state()
      if (state.removedProjects.has(projectId)) continue
      await directory.append(projectRemoval(state, projectId as ProjectId, atMs), 'command')
    }
  })
}

async function restoreOnOneMachine(
  config: Config,
  folder: string,
  from: string,
  before: () => Promise<void>,
): Promise<void> {
  oneMachineOnly(config, 'callhouse restore')
  if (from !== '') throw new UsageError('--from is for the backup of a ClickHouse server')
  await restore(resolve(folder), config.dataDir, print, before)
  await copyMasterKey(resolve(folder), config.dataDir)
  // Not before: a backup is restored into an empty folder, in which a server finds the event.
  const audit = commandAudit(config, createLogger({ level: 'error' }).log)
  await audit.record({ action: 'restore.ended', scope: '*', target: resolve(folder), actor: 'command' })
  await audit.close()
}
