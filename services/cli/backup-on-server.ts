// The commands `backup` and `restore` with Kafka and a ClickHouse server: the server does the work, this process notes and checks.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commandAudit } from '../app/audit.ts'
import type { Config } from '../app/config.ts'
import { openGroup, openLog, openStore, surveyLog } from '../app/drivers.ts'
import type { Audit } from '../core/audit/audit.ts'
import { betweenEvents } from '../core/audit/audited.ts'
import { directoryFile } from '../core/directory/file.ts'
import { createLogger, type Logger } from '../core/process/logger.ts'
import { quantity } from '../core/quantity.ts'
import { deleteAgain } from '../operations/backup/erased.ts'
import { backupServer } from '../operations/backup/server-backup.ts'
import { restoreServer } from '../operations/backup/server-restore.ts'
import type { ServerWork } from '../operations/backup/server-work.ts'
import { readDirectory, writeDirectory } from './directory.ts'

const stopSignals = ['SIGINT', 'SIGTERM'] as const

type Group = Awaited<ReturnType<typeof openGroup>>

async function withGroup(
  config: Config,
  print: (line: string) => void,
  work: (deps: ServerWork & { database: string; group: Group }) => Promise<void>,
): Promise<void> {
  // Each node of a cluster has parts of its own, and definitions with paths that a restore would meet again.
  if (config.clickhouseCluster !== '')
    throw new Error('backup and restore of a cluster are done by hand: docs/operate/backup.md says how')
  const { log: logger } = createLogger({ level: 'error' })
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  // A second one ends the process at once.
  for (const signal of stopSignals) process.once(signal, stop)
  const closing: (() => Promise<void>)[] = []
  try {
    const store = await openStore(config, logger, { statement() {} })
    closing.push(() => store.close())
    const group = await openGroup(config, logger)
    closing.push(() => group.close())
    await work({ store, group, database: config.clickhouseDatabase, print, signal: stopping.signal })
  } finally {
    for (const close of closing.toReversed()) await close()
    for (const signal of stopSignals) process.off(signal, stop)
  }
}

async function withAudit(config: Config, logger: Logger, work: (audit: Audit) => Promise<void>): Promise<void> {
  const audit = commandAudit(config, logger)
  try {
    await work(audit)
  } finally {
    await audit.close()
  }
}

/**
 * @param folder for the manifest
 * @param to destination, as the server's BACKUP statement spells it
 */
export async function backupOnServer(config: Config, folder: string, to: string, print: (line: string) => void) {
  const { log: logger } = createLogger({ level: 'error' })
  const work = () =>
    withGroup(config, print, async (deps) => {
      const { topics } = await surveyLog(config, logger)
      await backupServer({ ...deps, topics }, folder, to)
    })
  await withAudit(config, logger, (audit) =>
    betweenEvents(audit, 'backup', { scope: '*', target: to, actor: 'command' }, work),
  )
  await writeDirectory(config, join(folder, directoryFile))
  const files = config.fileBucket === '' ? 'the data folder that the roles share' : config.fileBucket
  print(`large files lie in ${files}: they are not in the backup, back them up now`)
}

/** Deletes once more what a file says, before any process reads: by the log, as every delete. */
export async function eraseAgainOnServer(config: Config, file: string, print: (line: string) => void): Promise<void> {
  const log = await openLog(config, 'query', createLogger({ level: 'error' }).log)
  try {
    const deleted = quantity(await deleteAgain(log, file), 'call or log record is', 'calls and log records are')
    print(`${deleted} deleted again`)
  } finally {
    await log.close()
  }
}

/** @param from destination where the manifest does not hold all of it, else empty */
export async function restoreOnServer(config: Config, folder: string, from: string, print: (line: string) => void) {
  const { log: logger } = createLogger({ level: 'error' })
  await withGroup(config, print, (deps) =>
    restoreServer({ ...deps, sessionTimeoutMs: config.kafkaSessionTimeoutMs }, folder, from),
  )
  // Not before: an event makes the topics that a restore looks for.
  const target = from === '' ? folder : from
  await withAudit(config, logger, (audit) =>
    audit.record({ action: 'restore.ended', scope: '*', target, actor: 'command' }),
  )
  const file = join(folder, directoryFile)
  // Backups of earlier versions have none.
  if (!existsSync(file)) return
  const taken = await readDirectory(config, file, true)
  if (taken === undefined)
    print(`users and keys stay as they are now; callhouse directory import ${file} takes those of the backup`)
}
