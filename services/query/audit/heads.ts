// The last stored event of each chain of audit events.
import type { NamedHead } from '../../core/audit/excuses.ts'
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'

type Row = { chain: string; last: string; hash: string; at_us: string }

export const auditHeadsQuery = (most: number): Query =>
  systemQuery(
    'audit.heads',
    sql`SELECT chain, toString(max(seq)) AS last, argMax(hash, seq) AS hash,
      toString(toUnixTimestamp64Micro(argMax(at, seq))) AS at_us FROM callhouse.audit_events
      GROUP BY chain ORDER BY max(at) DESC, chain LIMIT ${param('UInt64', most)}`,
  )

/** @param most of the chains that got their last event latest */
export async function auditHeads(store: Pick<Store, 'rows'>, most: number): Promise<NamedHead[]> {
  const rows = await store.rows<Row>(auditHeadsQuery(most), { pool: 'background' })
  return rows.map(({ chain, last, hash, at_us }) => ({ chain, seq: Number(last), hash, at_us: Number(at_us) }))
}
