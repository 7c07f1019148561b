// `callhouse doctor`: looks at the machine, the settings and the engines, also while no server runs.
import type { Config } from '../app/config.ts'
import { examineMachine, examineStore, type Finding, findingsText } from '../app/doctor.ts'
import { examineKafka, examineMatch } from '../app/doctor-kafka.ts'
import { hasEmbeddedStore, hasSharedLog, openGroup, openStore, surveyLog } from '../app/drivers.ts'
import { configuredAddresses, exporterText } from '../app/otlp-ports.ts'
import { retentionsOf } from '../app/shared-rules.ts'
import { hiddenAfterMs } from '../core/directory/retention.ts'
import { emptyState } from '../core/directory/state.ts'
import { askOverSocket } from '../core/process/control-socket.ts'
import { createLogger } from '../core/process/logger.ts'
import { print, printJson } from './command.ts'
import { withDirectory } from './directory.ts'

/** The engines are looked at where they are in use or may be shared; a folder that nobody uses is not opened for it. */
async function findStoreFindings(config: Config): Promise<Finding[]> {
  const reply = await askOverSocket(config.dataDir, { command: 'doctor', args: [] })
  if (reply) return reply.ok ? (reply.result as Finding[]) : [{ check: 'engine', verdict: 'fail', says: reply.reason }]
  if (hasEmbeddedStore(config))
    return [
      { check: 'engine', verdict: 'ok', says: 'no server runs on the data folder: its tables were not looked at' },
    ]
  const { log: logger } = createLogger({ level: 'error' })
  try {
    const store = await openStore(config, logger, { statement() {} })
    try {
      const match = hasSharedLog(config) ? [await examineMatch(store, () => openGroup(config, logger))] : []
      return [...match, ...(await examineStore(config, store))]
    } finally {
      await store.close()
    }
  } catch (error) {
    return [{ check: 'engine', verdict: 'fail', says: error instanceof Error ? error.message : String(error) }]
  }
}

/** Brokers, topics and workers; how long calls are seen at least stands in the directory. */
async function findKafkaFindings(config: Config): Promise<Finding[]> {
  const { log: logger } = createLogger({ level: 'silent' })
  const { logRetentionHours } = config
  return examineKafka({ logRetentionHours }, async () => {
    const survey = await surveyLog(config, logger)
    // Opening a directory that is not there yet would create its topic.
    const isNew = survey.missing.length > 0
    const leastOf = (one: Parameters<typeof retentionsOf>[0]) => hiddenAfterMs(retentionsOf(one, config))
    return { survey, hiddenAfterMs: isNew ? leastOf({ state: emptyState }) : await withDirectory(config, leastOf) }
  })
}

/** The exit code is 1 when something is wrong. */
export async function examine(config: Config, asJson: boolean): Promise<void> {
  const findings = [
    ...(await examineMachine(config)),
    ...(hasSharedLog(config) ? await findKafkaFindings(config) : []),
    ...(await findStoreFindings(config)),
  ]
  if (asJson) printJson(findings)
  else print(`${findingsText(findings)}\n\n${exporterText(configuredAddresses(config), config.tlsCert !== undefined)}`)
  if (findings.some(({ verdict }) => verdict === 'fail')) process.exitCode = 1
}
