// Removes receipts of erasures by age.

import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'

const atOnce = 10_000

/** @returns how many were removed: whole erasures that were done more than `years` years ago */
export async function dropOldReceipts(
  store: Pick<Store, 'rows' | 'command'>,
  years: number,
  nowMs = Date.now(),
): Promise<number> {
  const before = new Date(nowMs)
  before.setUTCFullYear(before.getUTCFullYear() - years)
  for (let dropped = 0; ; ) {
    const rows = await store.rows<{ project_id: string; id: string }>(
      statement('receipts.old', { before: before.getTime() * 1_000, limit: atOnce }),
      { pool: 'background' },
    )
    if (rows.length === 0) return dropped
    const params = { projects: [...new Set(rows.map((row) => row.project_id))], ids: rows.map(({ id }) => id) }
    await store.command(statement('receipts.drop', params), { background: true })
    dropped += rows.length
  }
}
