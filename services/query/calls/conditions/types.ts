// A compiled call query: conditions, facts for an index, an order, and the parts of a call that they read.
import type { Sql } from '../../../core/store/sql.ts'
import type { ProjectScope } from '../../../events/project-query.ts'
import type { FeedbackText } from '../../feedback/call-texts.ts'
import type { ColumnSql, Condition, JsonField, PathSegment, Row, Value } from '../../language/types.ts'
import type { TraceField } from './trace-fields.ts'

/**
 * Columns of the payload table: JSON texts, the versions of rules that masked those of its start and of its end,
 * billed values beside its counts (costs/billed.ts), and types of exceptions from its raw span.
 */
export type Document =
  | 'attributes'
  | 'inputs'
  | 'output'
  | 'summary'
  | 'otel_dump'
  | 'mask_start'
  | 'mask_end'
  | 'billed_usage'
  | 'counts_cached'
  | 'thrown_types'

/**
 * A value of a row that other tables hold: texts from feedback, from queues, or from behind a ref of a document, and figures
 * of its whole trace.
 */
export type DerivedField = FeedbackText['name'] | `ref_${number}` | 'queues' | TraceField

/** Physical columns of the table `calls` that expressions read. */
export type HeaderColumn =
  | 'project_id'
  | 'id'
  | 'trace_id'
  | 'parent_id'
  | 'thread_id'
  | 'turn_id'
  | 'op_name'
  | 'display_name'
  | 'exception'
  | 'user_id'
  | 'run_id'
  | 'run_step'
  | 'run_step_end'
  | 'started_at'
  | 'ended_at'
  | 'end_ver'
  | 'error_count'
  | 'input_refs'
  | 'output_refs'
  | 'usage_model'
  | 'usage_input'
  | 'usage_output'

/** A call as the JS evaluator reads it: the columns of the call header by name and the documents that the condition needs. */
export type EvaluatedRow = Row

/** A text found behind a ref: the value at the last path, after a ref was followed at the end of each path before it. */
export type RefField = {
  name: Extract<DerivedField, `ref_${string}`>
  ref: JsonField
  paths: PathSegment[][]
}

/** @property rows of all traces that calls of the query may have: `trace_key` and the columns; null = not looked up yet */
type WholeTraces = { columns: Set<TraceField>; rows: ((project: ProjectScope) => Sql) | null }

export type DerivedFields = { feedback: FeedbackText[]; refs: RefField[]; queues: boolean; traces: WholeTraces }

/** One conjunct: rows for which it is NULL do not match either. */
export type CompiledCondition = {
  needs: ReadonlySet<Document>
  derived: ReadonlySet<DerivedField>
  columns: ReadonlySet<HeaderColumn>
  /** Whether it asks for roots: those that never came have calls that stand for them. */
  isOfRoots: boolean
  /** Boolean (maybe Nullable) SQL expression. Default sources: `c.<column>` and `p.<document>`. */
  sql(of?: ColumnSql): Sql
  /** The source that it was compiled from. */
  tree: Condition
  /** The same in JS: for documents that the engine cannot read. */
  evaluate(row: EvaluatedRow): boolean
}

/** Facts implied by the conjuncts, for choosing an index; null = nothing known. Every fact is also among the conjuncts. */
export type IndexFacts = {
  /** True when no call can match. */
  nothing: boolean
  ids: string[] | null
  traceIds: string[] | null
  parentIds: string[] | null
  rootsOnly: boolean
  /** started_at in microseconds: from (inclusive) and before (exclusive). */
  startedFrom: number | null
  startedBefore: number | null
  /**
   * Set when the conjuncts say nothing besides the started_at bounds: all calls, or just the roots. The counters know
   * these.
   */
  counted: 'calls' | 'roots' | null
}

export type CompiledSort = {
  needs: ReadonlySet<Document>
  derived: ReadonlySet<DerivedField>
  columns: ReadonlySet<HeaderColumn>
  /** The fields of the order. */
  fields: readonly Value[]
  /** Terms after ORDER BY; null = no order asked for (`sort_by: []`). */
  orderBy(of?: ColumnSql): Sql | null
  /** Set when the order is started_at, then id: windows of time can be walked in this direction. */
  startedAtOnly: 'asc' | 'desc' | null
  /** Direction of the id term that follows, when startedAtOnly is set. */
  idDirection: 'asc' | 'desc' | null
  /** Set when the order is that of one JSON field, then the id. */
  byField: { json: JsonField; direction: 'asc' | 'desc'; idDirection: 'asc' | 'desc' } | null
  /** The same order in JS. */
  compare(a: EvaluatedRow, b: EvaluatedRow): number
}

export type CompiledCallsQuery = {
  /** Conjuncts on columns of the call header only: evaluate them first. */
  header: CompiledCondition[]
  /** Conjuncts that need documents or derived fields. */
  payload: CompiledCondition[]
  /** The derived fields that conditions and order read. */
  derivedFields: DerivedFields
  /** Documents of all payload conjuncts. */
  needs: ReadonlySet<Document>
  facts: IndexFacts
  sort: CompiledSort
}
