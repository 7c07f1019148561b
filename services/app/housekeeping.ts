// The hourly work of a process that applies the log: old log records, the audit log, the purge, and merges of parts.
import type { ProcessAudit } from '../core/audit/audit.ts'
import type { AuditEvent } from '../core/audit/chain.ts'
import type { Log } from '../core/log/log.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Store } from '../core/store/store.ts'
import { type CleanupSchedule, scheduleCleanup } from '../derived/cleanup-schedule.ts'
import type { Merges } from '../derived/merges.ts'
import { dropOldAudit, recordEndedKeys, writeCheckpoint } from '../removal/audit-housekeeping.ts'
import { type createPurge, isPurgeDue } from '../removal/purge.ts'
import { dropOldLogs, dropOldReceipts } from '../removal/retention.ts'
import type { Config } from './config.ts'

export type HousekeepingDeps = {
  config: Config
  log: Log
  store: Store
  logger: Logger
  audit: ProcessAudit
  /** The most days for which log records of some project are kept. */
  mostLogsDays(): number
  /** Keys whose end came within a time, as audit events. */
  endedKeys(fromMs: number, toMs: number): AuditEvent[]
}

type Housework = { merges: Merges; purge: ReturnType<typeof createPurge>; deduplicate(): Promise<unknown> }

/** Removes log records that are too old for every project. */
async function removeOldLogs({ config, store, logger, audit, mostLogsDays }: HousekeepingDeps): Promise<void> {
  const dropped = await dropOldLogs(store, { own: mostLogsDays(), derived: config.logsDays })
  if (dropped.length === 0) return
  logger.info({ dropped }, 'old log records removed')
  await audit.record({ action: 'retention.purged', scope: '*', target: 'logs', details: { months: dropped } })
}

/** A log that takes no events leaves the other work of the hour to be done. */
async function keepAudit({ store, audit, config, logger, endedKeys }: HousekeepingDeps): Promise<void> {
  try {
    await recordEndedKeys({ store, audit }, endedKeys, config.auditDays)
    const months = await dropOldAudit({ store, audit }, config.auditDays)
    if (months.length > 0) logger.info({ months }, 'old audit events removed')
    logger.info(await writeCheckpoint({ store, audit }, config.auditDays), 'audit checkpoint')
  } catch (error) {
    logger.warn({ error: String(error) }, 'no checkpoint of the audit log was made')
  }
}

async function removeOldReceipts({ config, store, audit }: HousekeepingDeps, nowMs: number): Promise<void> {
  const rows = await dropOldReceipts(store, config.receiptYears, nowMs)
  if (rows > 0) await audit.record({ action: 'retention.purged', scope: '*', target: 'receipts', details: { rows } })
}

/** Schedules the work of each hour, and the deduplication after large batches. */
export function scheduleHousekeeping(
  deps: HousekeepingDeps,
  { merges, purge, deduplicate }: Housework,
): CleanupSchedule {
  const { config, log, store, logger } = deps
  let purgedMs: number | undefined
  const purgeDaily = async (nowMs: number): Promise<void> => {
    if (!isPurgeDue(config.purgeHour, purgedMs, nowMs)) return
    const purged = await purge.run(nowMs)
    purgedMs = nowMs
    await removeOldReceipts(deps, nowMs)
    if (purged.rows > 0 || purged.rewritten.length > 0) logger.info(purged, 'expired data removed')
  }
  return scheduleCleanup({
    deduplicate,
    async hourly() {
      if (!log.owns('calls', 0)) return
      await removeOldLogs(deps)
      await keepAudit(deps)
      await purgeDaily(Date.now())
      await merges.run()
      // Migrations that wait for older processes to end.
      await store.migrate()
    },
    onError: (error) => logger.warn({ error: String(error) }, 'clean-up failed'),
  })
}
