// Runs the commands `erasures list`, `show` and `export` where the store is.
import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import type { Store } from '../../core/store/store.ts'
import { deletedCalls, deletedLogs } from '../../operations/backup/erased.ts'
import { receiptsOf } from '../../query/erasures/receipts.ts'

/** @param freshness absent where this process does not follow the log: what is stored by now counts */
export const erasureCommands =
  ({ store, freshness }: { store: Pick<Store, 'rows'>; freshness?: Freshness }): ControlHandler =>
  async ({ command, args }) => {
    await freshness?.wait(latestOfLog(), ['calls', 'erasures', 'logs'])
    const [first = '', second = '', third = '0'] = args
    if (command === 'erasures.list') return receiptsOf(store, { projectId: first })
    if (command === 'erasures.show') return receiptsOf(store, { id: first })
    if (command === 'erasures.deletes') return deletedCalls(store, { project_id: first, id: second }, deletesAtOnce)
    if (command === 'erasures.deleted_logs')
      return deletedLogs(store, { project_id: first, log_id: second, at: third }, deletesAtOnce)
    throw new Error(`Unknown command ${command}`)
  }

/** Deletes in one answer. */
export const deletesAtOnce = 20_000
