// The columns of prices: which names a cost query may use, and what each one means.
import { fault } from '../../core/http/errors.ts'
import { type Sql, sql } from '../../core/store/sql.ts'
import type { Column, ColumnSql, Field, Fields } from '../language/types.ts'

function column(name: string, kind: Column['kind'], as: (of: ColumnSql) => Sql = (of) => of(name)): Column {
  const read = (): never => {
    throw new Error('prices are compared by the engine')
  }
  return { name, kind, nullable: false, reads: [name], sql: as, read }
}

/** Every result has these keys. */
export const shownColumns = [
  'id',
  'llm_id',
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
  'effective_date',
  'provider_id',
] as const

const columns = new Map<string, Column>(
  [
    column('id', 'string'),
    column('pricing_level', 'string', () => sql`'project'`),
    column('pricing_level_id', 'string', (of) => of('project_id')),
    column('provider_id', 'string'),
    column('llm_id', 'string'),
    column('effective_date', 'datetime'),
    column('prompt_token_cost', 'double'),
    column('completion_token_cost', 'double'),
    column('cache_read_input_token_cost', 'double'),
    column('cache_creation_input_token_cost', 'double'),
    column('prompt_token_cost_unit', 'string'),
    column('completion_token_cost_unit', 'string'),
    column('created_by', 'string'),
    column('created_at', 'datetime'),
  ].map((one) => [one.name, one]),
)

/** @throws Fault 400 for a name that is no column */
export function priceColumn(name: string): Column {
  const found = columns.get(name)
  if (found === undefined) throw fault(400, `Field ${name} is not a field of costs`)
  return found
}

/** @throws Fault 400 for a name that is no column */
export const costFields: Fields = (name): Field => ({ is: 'column', column: priceColumn(name) })
