// The last stored event of each chain of audit events.
import type { Head } from '../../core/audit/chain.ts'
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'

type Row = { chain: string; last: string; hash: string }

export const auditHeadsQuery = (most: number): Query =>
  systemQuery(
    'audit.heads',
    sql`SELECT chain, toString(max(seq)) AS last, argMax(hash, seq) AS hash FROM callhouse.audit_events
      GROUP BY chain ORDER BY max(at) DESC, chain LIMIT ${param('UInt64', most)}`,
  )

/** @param most of the chains that got their last event latest */
export async function auditHeads(store: Pick<Store, 'rows'>, most: number): Promise<Head[]> {
  const rows = await store.rows<Row>(auditHeadsQuery(most), { pool: 'background' })
  return rows.map(({ chain, last, hash }) => ({ chain, seq: Number(last), hash }))
}
