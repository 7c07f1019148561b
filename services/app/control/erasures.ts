// Runs the commands `erasures list`, `show` and `export` where the store is.
import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { CommandTable } from '../../core/process/services.ts'
import type { Store } from '../../core/store/store.ts'
import { deletedCalls, deletedLogs } from '../../operations/backup/erased.ts'
import { receiptsOf } from '../../query/erasures/receipts.ts'

/** @param freshness absent where this process does not follow the log: what is stored by now counts */
export function erasureCommands(deps: { store: Pick<Store, 'rows'>; freshness?: Freshness }): CommandTable {
  const { store, freshness } = deps
  const latest = () => freshness?.wait(latestOfLog(), ['calls', 'erasures', 'logs'])
  return {
    async 'erasures.list'([projectId = '']) {
      await latest()
      return receiptsOf(store, { projectId })
    },
    async 'erasures.show'([id = '']) {
      await latest()
      return receiptsOf(store, { id })
    },
    async 'erasures.deletes'([project_id = '', id = '']) {
      await latest()
      return deletedCalls(store, { project_id, id }, deletesAtOnce)
    },
    async 'erasures.deleted_logs'([project_id = '', log_id = '', at = '0']) {
      await latest()
      return deletedLogs(store, { project_id, log_id, at }, deletesAtOnce)
    },
  }
}

/** Deletes in one answer. */
export const deletesAtOnce = 20_000
