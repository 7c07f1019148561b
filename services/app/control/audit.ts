// Runs the commands `audit list`, `audit export` and `audit verify` where the store is.
import { auditRequest } from '../../../schemas/audit.ts'
import { verifyChains } from '../../core/audit/verify.ts'
import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { CommandTable } from '../../core/process/services.ts'
import { type AuditStore, auditLines, chainPieces, namingEvents } from '../../query/audit/events.ts'

/** @param freshness absent where this process does not follow the log: what is stored by now counts */
export function auditCommands({ store, freshness }: { store: AuditStore; freshness?: Freshness }): CommandTable {
  const latest = () => freshness?.wait(latestOfLog(), ['audit'])
  return {
    async 'audit.list'([request = '']) {
      await latest()
      return auditLines(store, auditRequest.parse(JSON.parse(request)), { pool: 'background' })
    },
    async 'audit.verify'([anchor = '']) {
      await latest()
      return verifyChains(await namingEvents(store), chainPieces(store), anchor === '' ? undefined : anchor)
    },
  }
}
