// Erasures of all projects, for operators: those of one project have routes.
import type { Query, Store } from '../../core/store/store.ts'
import { type ErasureRow, erasureColumns, erasureOf, receiptOf } from '../../events/erasures.ts'

const latest = 1_000

/** The receipt as readers see it: one whose deletes are in the tables is hidden. */
export const receiptOfRow = (row: ErasureRow) => {
  const receipt = receiptOf(erasureOf(row))
  return { ...receipt, status: receipt.status === 'accepted' ? ('hidden' as const) : receipt.status }
}

/** An empty word stands for all. */
export const receiptsQuery = (projectId: string, id: string): Query => ({
  name: 'erasures.of-all',
  sql: `SELECT ${erasureColumns.join(', ')} FROM callhouse.erasures FINAL
    WHERE ({project:String} = '' OR project_id = {project:String}) AND ({id:String} = '' OR id = {id:String})
    ORDER BY id DESC LIMIT ${latest}`,
  params: { project: projectId, id },
})

/** The latest ones first, up to 1,000. An empty word stands for all. */
export async function receiptsOf(
  store: Pick<Store, 'rows'>,
  { projectId = '', id = '' }: { projectId?: string; id?: string },
): Promise<ReturnType<typeof receiptOfRow>[]> {
  const rows = await store.rows<ErasureRow>(receiptsQuery(projectId, id), { pool: 'background' })
  return rows.map(receiptOfRow)
}
