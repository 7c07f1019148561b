// The typed tree of a query expression, and what the planner of call queries gets from the compiler.
import type { Sql } from '../../core/store/sql.ts'
import type { Joins } from '../calls/conditions/joins.ts'

/** JSON texts of a call that live in the payload table. */
export type Document = 'attributes' | 'inputs' | 'output' | 'summary' | 'otel_dump'

/** Texts that are made for a row from elsewhere: from feedback, from queues, or from behind a ref of a document. */
export type Virtual = `feedback_${number}` | `ref_${number}` | 'queues'

/** Physical columns of the light table that expressions read. */
export type LightColumn =
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

/** Which SQL stands for a physical column or document, e.g. `c.op_name`, `p.inputs`. */
export type Sources = (column: string) => Sql

/** What a row holds: times are microseconds (bigint or number), documents are JSON texts, '' = none. */
export type Row = { readonly [column: string]: string | number | bigint | readonly string[] }

/** A call as the JS evaluator reads it: the light columns by name and the documents that the condition needs. */
export type CallRow = Row

// --- the typed tree -------------------------------------------------------------------------------------------------

export type Kind = 'string' | 'int' | 'double' | 'bool' | 'datetime'
export type Scalar = string | number | bigint | boolean | null

/** A column-like field: what it is, how SQL says it, how JS reads it. */
export type Column = {
  name: string
  kind: 'string' | 'int' | 'double' | 'datetime'
  nullable: boolean
  /** Physical columns behind it. */
  reads: readonly string[]
  sql(of: Sources): Sql
  /** Shorter SQL for the test for NULL. */
  isNull?(of: Sources): Sql
  read(row: Row): string | number | bigint | null
}

/** Segment of a JSON path: a number may index an array or name a key. */
export type Segment = string | number

/** Place in a JSON text. When `over` is present and its text is not empty, the value is read there instead. */
export type JsonField = {
  document: string
  path: readonly Segment[]
  over?: { document: string; path: readonly Segment[] }
  /** Where the ref stands that leads to the document. With nothing behind it the field is NULL. */
  ref?: JsonField
  /** Takes no type from literals: it is a text until it is converted. */
  untyped?: true
  /** The document is a list of texts: equality and containment hold when they hold for one of them. */
  many?: true
}

type ListColumn = { name: string; column: string }

/** What a field name may mean. */
export type Field =
  | { is: 'json'; json: JsonField }
  | { is: 'column'; column: Column }
  | { is: 'list'; list: ListColumn }

/** Turns a field name of a request into a field, or throws the fault. */
export type Fields = (name: string) => Field

export type CompareOp = 'eq' | 'gt' | 'gte' | 'lt' | 'lte'

export type Value =
  | { is: 'literal'; kind: Kind; value: Exclude<Scalar, null> }
  | { is: 'null' }
  /** String form of a JSON value; never NULL. */
  | { is: 'json'; json: JsonField }
  | { is: 'column'; column: Column }
  | { is: 'cast'; to: 'string' | 'int' | 'double' | 'bool'; of: Value }
  | { is: 'length'; of: Value }
  | { is: 'listLength'; list: ListColumn }
  | Condition

/** Values of kind bool, with three-valued logic. */
export type Condition =
  | { is: 'and' | 'or'; of: Condition[] }
  | { is: 'not'; of: Condition }
  | { is: 'compare'; op: CompareOp; left: Value; right: Value }
  | { is: 'isNull'; of: Value }
  /** Present and not JSON null. */
  | { is: 'exists'; json: JsonField }
  | { is: 'in'; left: Value; kind: 'string' | 'int' | 'double' | 'datetime'; values: (string | number | bigint)[] }
  | { is: 'startsWith'; input: Value; prefixes: string[] }
  | { is: 'contains'; input: Value; substr: Value; fold: boolean }
  /** A list has an element equal to a value. */
  | { is: 'member'; list: ListColumn; value: Value; fold: boolean }
  /** A list has one of the elements, or an element that starts with one of the prefixes. */
  | { is: 'anyOf'; list: ListColumn; values: string[]; prefixes: string[] }
  /** One of the texts of a JSON list equals or contains a text. */
  | { is: 'among'; document: string; how: 'equal' | 'contains'; value: Value; fold: boolean }
  /** Boolean context of a value that is not boolean. */
  | { is: 'truth'; of: Value }
  | { is: 'constant'; value: boolean | null }

// --- what the planner gets ------------------------------------------------------------------------------------------

/** One conjunct: rows for which it is NULL do not match either. */
export type CompiledCondition = {
  needs: ReadonlySet<Document>
  joins: ReadonlySet<Virtual>
  columns: ReadonlySet<LightColumn>
  /** Boolean (maybe Nullable) SQL expression. Default sources: `c.<column>` and `p.<document>`. */
  sql(of?: Sources): Sql
  /** What it was compiled from. */
  tree: Condition
  /** The same in JS: for documents that the engine cannot read. */
  evaluate(row: CallRow): boolean
}

/** Facts implied by the conjuncts, for choosing an index; null = nothing known. Every fact is also among the conjuncts. */
export type IndexFacts = {
  /** True when no call can match. */
  nothing: boolean
  ids: string[] | null
  traceIds: string[] | null
  parentIds: string[] | null
  threadIds: string[] | null
  turnIds: string[] | null
  /** Exact op names; null also when a prefix form is among them. */
  opNames: string[] | null
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
  joins: ReadonlySet<Virtual>
  columns: ReadonlySet<LightColumn>
  /** What it goes by. */
  fields: readonly Value[]
  /** Terms after ORDER BY; null = no order asked for (`sort_by: []`). */
  orderBy(of?: Sources): Sql | null
  /** Set when the order is started_at, then id: windows of time can be walked in this direction. */
  startedAtOnly: 'asc' | 'desc' | null
  /** Direction of the id term that follows, when startedAtOnly is set. */
  idDirection: 'asc' | 'desc' | null
  /** Set when the order is that of one JSON field, then the id. */
  byField: { json: JsonField; direction: 'asc' | 'desc'; idDirection: 'asc' | 'desc' } | null
  /** The same order in JS. */
  compare(a: CallRow, b: CallRow): number
}

export type CompiledCallsQuery = {
  /** Conjuncts on light columns only: evaluate them first. */
  light: CompiledCondition[]
  /** Conjuncts that need documents or virtual texts. */
  payload: CompiledCondition[]
  /** What the virtual texts of conditions and order are made of. */
  joins: Joins
  /** Documents of all payload conjuncts. */
  needs: ReadonlySet<Document>
  facts: IndexFacts
  sort: CompiledSort
}
