// The `filter` object of call queries as conditions on the table `calls`.
import type { CallsFilter } from '../../../../schemas/query.ts'
import { fault } from '../../../core/http/errors.ts'
import type { Condition, Value } from '../../language/types.ts'
import { junction } from '../../language/typing.ts'
import { rootColumn } from './facts.ts'
import { callColumn } from './fields.ts'

/** The parent of a root. */
const rootParent: Value = { is: 'column', column: { ...callColumn('parent_id'), name: rootColumn } }

const maxListed = 1000
const spellings = ['platform', 'wb'] as const
const nothing: Condition = { is: 'constant', value: false }

const column = (name: string): Value => ({ is: 'column', column: callColumn(name) })

function checked(name: string, list: string[] | null | undefined): string[] | null {
  if (list && list.length > maxListed)
    throw fault(400, `Filter ${name} takes at most ${maxListed} values, got ${list.length}`)
  return list ?? null
}

const nonEmpty = (list: string[] | null): string[] | null => (list?.length ? list : null)

/** Exact values of a column; the empty string is null and matches nothing. */
function among(name: string, list: string[] | null): Condition[] {
  if (list === null) return []
  const values = list.filter((value) => value !== '')
  // Without empty values there is no difference between NULL and '', and the plain column is cheaper.
  const left: Value = { is: 'column', column: { ...callColumn(name), nullable: false, sql: (of) => of(name) } }
  return [values.length === 0 ? nothing : { is: 'in', left, kind: 'string', values }]
}

/** Values ending in `:*` are prefixes up to the colon. */
function split(list: string[]): { values: string[]; prefixes: string[] } {
  const prefixes = list.filter((value) => value.endsWith(':*')).map((value) => value.slice(0, -1))
  return { values: list.filter((value) => !value.endsWith(':*')), prefixes }
}

function opNames(list: string[] | null): Condition[] {
  if (list === null) return []
  const { values, prefixes } = split(list)
  const input = column('op_name')
  const of: Condition[] = []
  if (values.length > 0) of.push({ is: 'in', left: input, kind: 'string', values })
  if (prefixes.length > 0) of.push({ is: 'startsWith', input, prefixes })
  return [junction('or', of)]
}

const refs = (name: string, list: string[] | null): Condition[] =>
  list === null ? [] : [{ is: 'anyOf', list: { name, column: name }, ...split(list) }]

/** Conjuncts of a filter. @throws Fault 400 when a list is too long */
export function filterConditions(filter: CallsFilter | null | undefined, projectId: string): Condition[] {
  if (!filter) return []
  const list = (name: keyof CallsFilter): string[] | null => checked(name, filter[name] as string[] | null | undefined)
  const runId = (id: string): string => (id.includes('/') ? id : `${projectId}/${id}`)
  return [
    ...among('id', nonEmpty(list('call_ids'))),
    ...among('trace_id', nonEmpty(list('trace_ids'))),
    ...among('parent_id', nonEmpty(list('parent_ids'))),
    ...among('thread_id', list('thread_ids')),
    ...among('turn_id', list('turn_ids')),
    ...(filter.trace_roots_only ? [{ is: 'isNull', of: rootParent } satisfies Condition] : []),
    ...opNames(nonEmpty(list('op_names'))),
    ...refs('input_refs', nonEmpty(list('input_refs'))),
    ...refs('output_refs', nonEmpty(list('output_refs'))),
    ...spellings.flatMap((prefix) => [
      ...among('user_id', nonEmpty(filter[`${prefix}_user_ids`] ?? null)),
      ...among('run_id', nonEmpty(list(`${prefix}_run_ids`))?.map(runId) ?? null),
    ]),
  ]
}
