// Deletes log records, for whichever route was asked to.
import type { Clock } from '../../core/clock/clock.ts'
import { tooLarge } from '../../core/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log, Position } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import { deletedRecords, type LogKey, logsTopic } from '../../events/logs.ts'
import { logKeyOf, type RecordCondition } from './records.ts'
import { createShownRecords } from './shown.ts'

/** Records that one request may name. */
const maxRecords = 1_000_000

export type DeleteRecordsDeps = { store: Pick<Store, 'bytes'>; log: Pick<Log, 'append'>; clock: Clock }

export type RecordDeletion = {
  /** Those that are meant and not hidden yet. @throws Refusal when they are too many for one request */
  find(projectId: ProjectId, where: RecordCondition, signal: AbortSignal): Promise<LogKey[]>
  /** Durable when it resolves. */
  remove(projectId: ProjectId, keys: readonly LogKey[]): Promise<Position[]>
}

export function createRecordDeletion({ store, log, clock }: DeleteRecordsDeps): RecordDeletion {
  const { keys } = createShownRecords(store)
  return {
    async find(projectId, where, signal) {
      const found: LogKey[] = []
      for await (const page of keys({ projectId, where, signal }, undefined, { signal, pool: 'export' })) {
        for (const { key } of page) found.push(logKeyOf(key))
        if (found.length > maxRecords) throw tooLarge()
      }
      return found
    },
    async remove(projectId, keys) {
      const positions: Position[] = []
      for (const record of deletedRecords(projectId, keys, clock))
        positions.push(await log.append(logsTopic.name, [record]))
      return positions
    },
  }
}
