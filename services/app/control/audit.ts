// Runs the commands `audit list`, `audit export` and `audit verify` where the store is.
import { auditRequest } from '../../../schemas/audit.ts'
import { verifyChains } from '../../core/audit/verify.ts'
import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import { type AuditStore, auditLines, chainPieces, namingEvents } from '../../query/audit/events.ts'

/** @param freshness absent where this process does not follow the log: what is stored by now counts */
export const auditCommands =
  ({ store, freshness }: { store: AuditStore; freshness?: Freshness }): ControlHandler =>
  async ({ command, args: [asked = ''] }) => {
    await freshness?.wait(latestOfLog(), ['audit'])
    if (command === 'audit.list')
      return auditLines(store, auditRequest.parse(JSON.parse(asked)), { pool: 'background' })
    if (command === 'audit.verify')
      return verifyChains(await namingEvents(store), chainPieces(store), asked === '' ? undefined : asked)
    throw new Error(`Unknown command ${command}`)
  }
