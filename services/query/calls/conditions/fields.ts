// The fields of calls: which names a request may use, and what each one means in SQL and in JS.
import { fault } from '../../../core/http/errors.ts'
import { type Sql, sql } from '../../../core/store/sql.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { Column, ColumnSql, Field, Fields, JsonField, Row } from '../../language/types.ts'
import { neutralName } from '../../language/wire-names.ts'
import { errorKind } from './error-kind.ts'
import { type Expanded, expandedPaths, listedAmong } from './expanded.ts'
import { type DerivedFieldFactory, derivedFieldFactory, isDerived } from './joins.ts'
import type { DerivedField, Document, HeaderColumn } from './types.ts'
import { costColumn, costFieldName, type ModelPrices, modelList, usageColumns } from './usage-fields.ts'

const text = (row: Row, column: string): string => String(row[column] ?? '')
const isRunning = (row: Row): boolean => Number(row.end_ver ?? 0) === 0

function plain(name: string): Column {
  return { name, kind: 'string', nullable: false, reads: [name], sql: (of) => of(name), read: (row) => text(row, name) }
}

/** The empty string stands for null. */
function nullable(name: string): Column {
  return {
    name,
    kind: 'string',
    nullable: true,
    reads: [name],
    sql: (of) => sql`nullIf(${of(name)}, '')`,
    isNull: (of) => sql`(${of(name)} = '')`,
    read: (row) => text(row, name) || null,
  }
}

/** -1 stands for null. */
function step(name: string): Column {
  const read = (row: Row): bigint | null => {
    const value = row[name]
    return value === undefined || value === '' || Number(value) < 0 ? null : BigInt(value as string | number | bigint)
  }
  return { name, kind: 'int', nullable: true, reads: [name], sql: (of) => sql`nullIf(${of(name)}, -1)`, read }
}

/** Times that this server never sets. */
function never(name: string): Column {
  const always = sql`CAST(NULL, 'Nullable(DateTime64(6, \\'UTC\\'))')`
  return { name, kind: 'datetime', nullable: true, reads: [], sql: () => always, read: () => null }
}

const startedAt: Column = {
  name: 'started_at',
  kind: 'datetime',
  nullable: false,
  reads: ['started_at'],
  sql: (of) => of('started_at'),
  read: (row) => Number(row.started_at),
}

const endedAt: Column = {
  name: 'ended_at',
  kind: 'datetime',
  nullable: true,
  reads: ['ended_at', 'end_ver'],
  sql: (of) => sql`if(${of('end_ver')} = 0, NULL, ${of('ended_at')})`,
  isNull: (of) => sql`(${of('end_ver')} = 0)`,
  read: (row) => (isRunning(row) ? null : Number(row.ended_at)),
}

const status: Column = {
  name: 'summary.weave.status',
  kind: 'string',
  nullable: false,
  reads: ['exception', 'end_ver', 'error_count'],
  sql: (of) =>
    sql`multiIf(${of('exception')} != '', 'error', ${of('end_ver')} = 0, 'running', ${of('error_count')} > 0, 'descendant_error', 'success')`,
  read(row) {
    if (text(row, 'exception') !== '') return 'error'
    if (isRunning(row)) return 'running'
    return Number(row.error_count ?? 0) > 0 ? 'descendant_error' : 'success'
  },
}

/**
 * The error as the page shows it: the exception behind its types, which the events of a span name apart from the
 * message. Empty without an exception.
 */
const error: Column = {
  name: 'summary.weave.error',
  kind: 'string',
  nullable: false,
  reads: ['exception', 'thrown_types'],
  sql: (of) =>
    sql`if(${of('exception')} = '' OR ${of('thrown_types')} = '', ${of('exception')}, concat(${of('thrown_types')}, ': ', ${of('exception')}))`,
  read(row) {
    const [types, thrown] = [text(row, 'thrown_types'), text(row, 'exception')]
    return thrown === '' || types === '' ? thrown : `${types}: ${thrown}`
  },
}

/** Clocks of senders may be wrong: what ended before it began took no time. */
const duration = (of: ColumnSql): Sql =>
  sql`greatest(0, toUnixTimestamp64Micro(${of('ended_at')}) - toUnixTimestamp64Micro(${of('started_at')}))`

/** Whole milliseconds between two times, in microseconds. */
export const latencyMs = (startedUs: number, endedUs: number): number =>
  Math.max(0, Math.floor((endedUs - startedUs) / 1000))

const latency: Column = {
  name: 'summary.weave.latency_ms',
  kind: 'int',
  nullable: true,
  reads: ['started_at', 'ended_at', 'end_ver'],
  sql: (of) => sql`if(${of('end_ver')} = 0, NULL, intDiv(${duration(of)}, 1000))`,
  read: (row) => (isRunning(row) ? null : latencyMs(Number(row.started_at), Number(row.ended_at))),
}

const opRef = /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^/:]+):/

/** The name of an op without its project and version; one function of one column, which takes each distinct name once. */
export const plainNameSql = (of: ColumnSql): Sql =>
  sql`replaceRegexpOne(${of('op_name')}, '^weave:///[^/]+/[^/]+/op/([^/:]+):[\\\\s\\\\S]*$', '\\\\1')`

const traceName: Column = {
  name: 'summary.weave.trace_name',
  kind: 'string',
  nullable: false,
  reads: ['display_name', 'op_name'],
  sql(of) {
    const name = sql`extract(${of('op_name')}, '^weave:///[^/]+/[^/]+/op/([^/:]+):')`
    return sql`multiIf(${of('display_name')} != '', ${of('display_name')}, ${name} != '', ${name}, ${of('op_name')})`
  },
  read: (row) => text(row, 'display_name') || (opRef.exec(text(row, 'op_name'))?.[1] ?? text(row, 'op_name')),
}

/** Version of the rules that masked the call; of a start and an end that came apart the older one. */
const maskingVersion: Column = {
  name: 'masking.version',
  kind: 'int',
  nullable: false,
  reads: ['mask_start', 'mask_end', 'end_ver'],
  sql: (of) => sql`if(${of('end_ver')} = 0, ${of('mask_start')}, least(${of('mask_start')}, ${of('mask_end')}))`,
  read(row) {
    const start = BigInt(Number(row.mask_start ?? 0))
    const end = BigInt(Number(row.mask_end ?? 0))
    return isRunning(row) || start < end ? start : end
  },
}

const columns = new Map<string, Column>(
  [
    plain('id'),
    plain('project_id'),
    plain('trace_id'),
    plain('op_name'),
    nullable('parent_id'),
    nullable('thread_id'),
    nullable('turn_id'),
    nullable('display_name'),
    nullable('exception'),
    startedAt,
    endedAt,
    never('deleted_at'),
    never('expire_at'),
    nullable('user_id'),
    nullable('run_id'),
    step('run_step'),
    step('run_step_end'),
  ].map((column) => [column.name, column]),
)

const derived = new Map<string, Column>(
  [status, latency, traceName, errorKind, ...usageColumns].map((column) => [column.name, column]),
)
const lists = new Set(['input_refs', 'output_refs'])
const documents = new Set<string>(['attributes', 'inputs', 'output', 'summary'])

/** The call's columns that other modules build conditions on. */
export const callColumn = (name: string): Column => {
  const column = columns.get(name) ?? derived.get(name)
  if (column === undefined) throw new Error(`no column ${name}`)
  return column
}

function jsonFieldAt(document: string, segments: readonly string[], name: string): JsonField {
  const path = jsonPath(segments, name)
  // On reading the raw span stands at attributes.otel_span, in place of whatever the client sent there.
  if (document === 'attributes' && path[0] === 'otel_span')
    return { document, path, over: { document: 'otel_dump', path: path.slice(1) } }
  return { document, path }
}

type Expansions = {
  derived: DerivedFieldFactory
  expand: Expanded
  /** Prices, where costs may be requested. */
  prices?: ModelPrices | undefined
  /** Whether what whole traces come to may be asked for. */
  wholeTraces?: boolean | undefined
  /** Whether errors with their types may be asked for: columns and documents are read side by side. */
  errors?: boolean | undefined
}

/** A value of a document, read through refs where the path leads over one that is to be expanded. */
function jsonField(document: string, segments: string[], name: string, { derived, expand }: Expansions): Field {
  const names = [document, ...segments]
  const ends = listedAmong(names, expand)
  if (ends.length === 0) return { is: 'json', json: jsonFieldAt(document, segments, name) }
  const cuts = [...new Set([...ends, names.length])].sort((a, b) => a - b)
  const [first = 0] = cuts
  const paths = cuts.map((cut, n) => jsonPath(names.slice(cut, cuts[n + 1]), name))
  // A path that is expanded at its end has nothing behind the last ref.
  if (!ends.includes(names.length)) paths.pop()
  return derived.behind(jsonFieldAt(document, names.slice(1, first), name), paths)
}

function summaryField(segments: string[], name: string, expansions: Expansions): Field {
  if (segments[0] !== 'weave' || segments.length === 1) return jsonField('summary', segments, name, expansions)
  if (name === modelList.name) return { is: 'list', list: modelList }
  if (name === error.name && expansions.errors) return { is: 'column', column: error }
  if (name === costFieldName && expansions.prices) return { is: 'column', column: costColumn(expansions.prices) }
  const column = segments.length === 2 ? derived.get(`summary.weave.${segments[1]}`) : undefined
  if (column === undefined) throw fault(422, `Summary field '${segments.slice(1).join('.')}' is not allowed`)
  return { is: 'column', column }
}

/** @throws Fault 422 for names that no call has */
function callField(name: string, expansions: Expansions): Field {
  if (name.startsWith('feedback.')) return expansions.derived.feedback(name)
  if (expansions.wholeTraces && name.startsWith('trace.')) return expansions.derived.ofTrace(name)
  if (name === 'annotation_queue_items.queue_id') return expansions.derived.queues()
  const [first = '', ...rest] = splitPath(name)
  const document = first.endsWith('_dump') ? first.slice(0, -5) : first
  if (document === 'summary') return summaryField(rest, name, expansions)
  if (documents.has(document)) return jsonField(document, rest, name, expansions)
  if (name === maskingVersion.name) return { is: 'column', column: maskingVersion }
  if (rest.length === 0) {
    const column = columns.get(neutralName(first))
    if (column !== undefined) return { is: 'column', column }
    if (lists.has(first)) return { is: 'list', list: { name: first, column: first } }
  }
  throw fault(422, `Field ${name} is not allowed in queries of calls`)
}

/** The meanings of field names in call queries. */
export function callFields(
  expansions: Expansions = { derived: derivedFieldFactory('wandb'), expand: expandedPaths([]) },
): Fields {
  return (name) => callField(name, expansions)
}

const computed = new Set<string>([
  'otel_dump',
  'mask_start',
  'mask_end',
  'billed_usage',
  'counts_cached',
  'thrown_types',
])

/** Whether it is read by an expression over other columns, and by no name of its own in a request. */
export const isComputed = (column: string): boolean => computed.has(column)
export const isDocument = (column: string): column is Document => documents.has(column) || isComputed(column)

/** Columns by where they are read from. */
export const readsBySource = (reads: readonly string[]) => ({
  needs: new Set<Document>(reads.filter(isDocument)),
  derived: new Set<DerivedField>(reads.filter(isDerived)),
  columns: new Set(reads.filter((name) => !isDocument(name) && !isDerived(name)) as HeaderColumn[]),
})
