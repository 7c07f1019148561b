// The `columns` of a call query: wire names to the neutral names of a record's fields.
import { neutralName } from '../language/wire-names.ts'

/** Top-level neutral names; null = all. Unknown names stay and show nothing. */
export function requestedColumns(columns: readonly string[] | undefined): ReadonlySet<string> | null {
  if (!columns?.length) return null
  return new Set(
    columns.map((column) => {
      const [top = ''] = column.split('.')
      return neutralName(top.endsWith('_dump') ? top.slice(0, -5) : top)
    }),
  )
}
