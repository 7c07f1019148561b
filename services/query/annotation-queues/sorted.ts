// Orders of queues and of their items: fields that are not known are passed over, ties go by id.
import { join, type Sql, sql } from '../../core/store/sql.ts'
import { distinctTerms } from '../sort-terms.ts'

export type Sorted = { field: string; direction: 'asc' | 'desc' }

export function sortedBy(
  sort: readonly Sorted[] | undefined,
  columns: ReadonlyMap<string, Sql>,
  usual: readonly Sorted[],
): Sql {
  const known = distinctTerms((sort ?? []).filter(({ field }) => columns.has(field)))
  const terms = (known.length > 0 ? known : usual).map(
    ({ field, direction }) => sql`${columns.get(field) as Sql} ${direction === 'asc' ? sql`ASC` : sql`DESC`}`,
  )
  return join([...terms, sql`id ASC`], ', ')
}
