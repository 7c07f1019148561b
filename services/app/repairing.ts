// Looks for broken parts of the tables of one machine, and rebuilds them while the server runs.
import { join } from 'node:path'
import type { Log } from '../core/log/log.ts'
import { readSegments } from '../core/log/segments/read.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Service } from '../core/process/services.ts'
import type { Store } from '../core/store/store.ts'
import type { TopicName } from '../events/registry.ts'
import { createRepair, type Repair } from '../operations/repair/repair.ts'
import type { Worker } from '../worker/run.ts'
import type { Config } from './config.ts'

const partsEveryMs = 60_000

type RepairingDeps = { config: Config; log: Log; store: Store; logger: Logger }

/** Records of the log of one machine. */
const keptRecords = ({ config, log }: Pick<RepairingDeps, 'config' | 'log'>) =>
  async function* (topic: TopicName, fromOffset = 1, upTo?: number) {
    const toOffset = upTo ?? (await log.end(topic))[0]?.offset ?? 0
    if (toOffset >= fromOffset) yield* readSegments({ dir: join(config.dataDir, 'log'), topic, fromOffset, toOffset })
  }

/** Rebuilds broken parts beside everything else: those that the start found, and those that a later look finds. */
export function repairing({ config, log, store, logger }: RepairingDeps, worker: Worker): Service<Repair> {
  const repair = createRepair({
    store,
    applier: worker,
    records: keptRecords({ config, log }),
    onRepaired(report) {
      if (report.missingBefore === null) logger.warn(report, 'broken parts rebuilt')
      else logger.error(report, 'broken parts rebuilt as far as the log goes back')
    },
    onUnknown: (part) => logger.error(part, 'a broken part cannot be rebuilt'),
  })
  let looking: NodeJS.Timeout | undefined
  const look = () =>
    void repair.run().catch((error: unknown) => logger.warn({ error: String(error) }, 'repair failed, trying again'))
  return {
    name: 'repair',
    start() {
      looking = setInterval(look, partsEveryMs)
      looking.unref()
      look()
      return repair
    },
    async stop() {
      clearInterval(looking)
      await repair.stop()
    },
    stopMs: 30_000,
  }
}
