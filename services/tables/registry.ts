// All tables of an installation but the landing tables, which services/events declares; docs/tables.md is written from it.
import { annotationQueuesTables } from './annotation-queues.ts'
import { appliedTables } from './applied.ts'
import { auditTables } from './audit.ts'
import { callCountTables } from './call-counts.ts'
import { callsTables } from './calls.ts'
import { costsTables } from './costs.ts'
import type { TableDeclaration, TableKind } from './declaration.ts'
import { erasuresTables } from './erasures.ts'
import { evaluationJobsTables } from './evaluation-jobs.ts'
import { feedbackTables } from './feedback.ts'
import { fieldIndexTables } from './field-index.ts'
import { filesTables } from './files.ts'
import { logsTables } from './logs.ts'
import { objectLabelsTables } from './object-labels.ts'
import { objectsTables } from './objects.ts'
import { datasetTables } from './tables.ts'
import { trainingJobsTables } from './training-jobs.ts'
import { usageTables } from './usage.ts'

/**
 * Tables of one kind stand in the order in which they are held fast for a backup, what follows from others before them, and
 * those with lines in exports in the order in which an import should see them, what others refer to first.
 */
const declared = {
  ...appliedTables,
  ...filesTables,
  ...objectsTables,
  ...objectLabelsTables,
  ...datasetTables,
  ...costsTables,
  ...fieldIndexTables,
  ...callCountTables,
  ...callsTables,
  ...feedbackTables,
  ...annotationQueuesTables,
  ...trainingJobsTables,
  ...evaluationJobsTables,
  ...logsTables,
  ...usageTables,
  ...auditTables,
  ...erasuresTables,
}

type Declared = typeof declared

/** Tables whose rows belong to projects: their keys begin with these. */
export type ProjectTable = {
  [Name in keyof Declared]: Declared[Name]['engine'] extends `${string}ORDER BY (project_id${string}` ? Name : never
}[keyof Declared]

export type DeclaredTable = TableDeclaration & { name: string }

export const tables: readonly DeclaredTable[] = Object.entries<TableDeclaration>(declared).map(([name, table]) => ({
  name,
  ...table,
}))

export function tableNamed(name: keyof Declared): DeclaredTable {
  return { name, ...declared[name] }
}

/** In the order of the kinds. */
export const tablesOfKind = (...kinds: readonly TableKind[]): string[] =>
  kinds.flatMap((kind) => tables.filter((table) => table.kind === kind).map(({ name }) => name))

/** Tables of some kinds in the order of these, then the others as they are. */
export function sortedByKind<Table extends { name: string }>(found: Table[], kinds: readonly TableKind[]): Table[] {
  const first = tablesOfKind(...kinds)
  const placeOf = ({ name }: Table): number => (first.includes(name) ? first.indexOf(name) : first.length)
  return found.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** Columns of the table's index. */
export const indexColumns = ({ engine }: Pick<TableDeclaration, 'engine'>): string[] =>
  /(?:PRIMARY KEY|ORDER BY) \((.+?)\)/.exec(engine)?.[1]?.split(', ') ?? []

/** Name, type, and default if it has one, of each column. */
export const tableColumns = ({ columns }: Pick<TableDeclaration, 'columns'>): [name: string, type: string][] =>
  columns.split(/,\s*(?![^()]*\))/).map((column) => {
    const [name = '', ...type] = column.trim().split(/\s+/)
    return [name, type.join(' ')]
  })

/** Form of a column with a time: as microseconds since 1970, or as one of the two types of the engine. */
export type TimeKind = 'micros' | 'time64' | 'time'

export function timeKindOf(table: DeclaredTable, column: string): TimeKind {
  const type = tableColumns(table).find(([name]) => name === column)?.[1] ?? ''
  return type.startsWith('DateTime64') ? 'time64' : type.startsWith('DateTime') ? 'time' : 'micros'
}

export type TableView = { name: string; source: string; target: string }

/** Views that fill tables: from a landing table, or from calls. */
export const tableViews: readonly TableView[] = tables.flatMap(({ name: target, views = [] }) =>
  views.map((name) => ({ name, source: /^(?:\w+?_in|calls)(?=_to_)/.exec(name)?.[0] ?? '', target })),
)

/** Tables that each worker of a server has of its own, and the views that fill them. */
export const scratchTables: readonly string[] = [
  ...tablesOfKind('scratch'),
  ...tableViews.filter(({ target }) => tablesOfKind('scratch').includes(target)).map(({ name }) => name),
]
