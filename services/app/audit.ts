// The audit log of a process: where its events go, before the log is open and after.
import { type Audit, type AuditSink, createAudit, type ProcessAudit } from '../core/audit/audit.ts'
import { createOutbox, takeOutbox } from '../core/audit/outbox.ts'
import { createReadAudit, type ReadAudit } from '../core/http/read-audit.ts'
import type { Log } from '../core/log/log.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Store } from '../core/store/store.ts'
import { auditRecord, auditTopic } from '../events/audit.ts'
import { auditHeads } from '../query/audit/heads.ts'
import type { Config } from './config.ts'
import { hasSharedLog, openLog } from './drivers.ts'
import { recordSettings } from './known-settings.ts'

const auditSink =
  (log: Pick<Log, 'append'>): AuditSink =>
  async (events) =>
    void (await log.append(auditTopic.name, events.map(auditRecord)))

/** Before a server has its log: it takes over from the data folder what is recorded until then. */
export const serverAudit = (config: Config, logger: Logger): ProcessAudit =>
  createAudit({
    sink: createOutbox(config.dataDir),
    kind: 'server',
    onLost: (error) => logger.warn({ error: error.message }, 'the end of an audited change was not recorded'),
  })

/** The audit of a command: over a shared log directly, else through the data folder. */
export function commandAudit(config: Config, logger: Logger): ProcessAudit & { close(): Promise<void> } {
  let opening: Promise<Log> | undefined
  const shared: AuditSink = async (events) => {
    opening ??= openLog(config, 'query', logger)
    await auditSink(await opening)(events)
  }
  const audit = createAudit({
    sink: hasSharedLog(config) ? shared : createOutbox(config.dataDir),
    kind: 'command',
    onLost: (error) => logger.error({ error: error.message }, 'the end of an audited change was not recorded'),
  })
  return {
    ...audit,
    async close() {
      await audit.idle()
      await (await opening)?.close()
    },
  }
}

export const readAuditOf = (
  audit: Pick<Audit, 'record'>,
  { auditReads: reads }: Pick<Config, 'auditReads'>,
  logger: Pick<Logger, 'warn'>,
): ReadAudit =>
  createReadAudit(audit, {
    reads,
    onLost: (error) => logger.warn({ error: error.message }, 'an export was not recorded'),
  })

type Opened = {
  config: Config
  log: Pick<Log, 'append'>
  store: Pick<Store, 'rows'>
  role: string
  version: string
  logger: Logger
}

/** Interval at which a server takes over the events that commands have recorded. */
const takeEveryMs = 1_000
const knownHeads = 100

/** The server has its log: what was recorded before goes there, and what others on the folder record. */
export async function openAudit(audit: ProcessAudit, deps: Opened): Promise<{ close(): Promise<void> }> {
  const { config, log, store, role, version, logger } = deps
  const sink = auditSink(log)
  const heads = await auditHeads(store, knownHeads)
  // A log that takes nothing at the moment does not keep a server from answering reads.
  await audit.moveTo(sink, { role, version, heads }).catch((error: unknown) => {
    logger.warn({ error: String(error) }, 'the audit log takes no events at the moment')
  })
  await recordSettings(audit, config, role).catch((error: unknown) => {
    logger.warn({ error: String(error) }, 'changed settings were not recorded')
  })
  let taking: Promise<unknown> | undefined
  const take = () => {
    taking ??= takeOutbox(config.dataDir, sink)
      .catch((error: unknown) => logger.warn({ error: String(error) }, 'audit events of commands wait'))
      .finally(() => {
        taking = undefined
      })
  }
  take()
  await taking
  const timer = setInterval(take, takeEveryMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await taking
      await audit.idle()
    },
  }
}
