// The addresses of tables, and which one has the rows of a dataset.

type TableSearch = { row?: string | undefined; tz?: string | undefined }

/** `row` counts from 1. */
export const tableSearch = ({ row, tz }: Record<string, unknown>): TableSearch => ({
  row: typeof row === 'string' && /^[1-9]\d{0,9}$/.test(row) ? row : undefined,
  tz: typeof tz === 'string' ? tz : undefined,
})

/** Number of a row, from 0. */
export const rowIn = (row: string | undefined): number | undefined => (row === undefined ? undefined : Number(row) - 1)

/** The digest of the table that a ref names, where it is one of this project. */
export function tableOf(projectId: string, ref: unknown): string | undefined {
  const head = `weave:///${projectId}/table/`
  return typeof ref === 'string' && ref.startsWith(head) ? ref.slice(head.length).split('/', 1)[0] : undefined
}

/** The rows of a dataset: their number where they stand in its value, or the table that has them. */
export function rowsIn(projectId: string, value: unknown): { count: number } | { table: string } | undefined {
  const { rows } = (value ?? {}) as { rows?: unknown }
  if (Array.isArray(rows)) return { count: rows.length }
  const table = tableOf(projectId, rows)
  return table === undefined ? undefined : { table }
}
