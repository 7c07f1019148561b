// Removes receipts of erasures by age.
import type { Store } from '../../core/store/store.ts'

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
      {
        name: 'receipts.old',
        sql: `SELECT project_id, id FROM callhouse.erasures FINAL
          WHERE status = 'done' AND done_us < {before:Int64} LIMIT ${atOnce}`,
        params: { before: before.getTime() * 1_000 },
      },
      { pool: 'background' },
    )
    if (rows.length === 0) return dropped
    // With what it was before it was done, which would count again otherwise.
    const sql = `DELETE FROM callhouse.erasures
      WHERE project_id IN {projects:Array(String)} AND id IN {ids:Array(String)}`
    const params = { projects: [...new Set(rows.map((row) => row.project_id))], ids: rows.map(({ id }) => id) }
    await store.command({ name: 'receipts.drop', sql, params }, { background: true })
    dropped += rows.length
  }
}
