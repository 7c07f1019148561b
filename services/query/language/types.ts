// The typed tree of a query expression, and the fields that it names.
import type { Sql } from '../../core/store/sql.ts'

/** SQL of a physical column or document, e.g. `c.op_name`, `p.inputs`. */
export type ColumnSql = (column: string) => Sql

/** The values of a row: times are microseconds (bigint or number), documents are JSON texts, '' = none. */
export type Row = { readonly [column: string]: string | number | bigint | readonly string[] }

// --- the typed tree -------------------------------------------------------------------------------------------------

export type Kind = 'string' | 'int' | 'double' | 'bool' | 'datetime'
/** Kinds that a value may be cast to. */
export type CastKind = Exclude<Kind, 'datetime'>
export type Scalar = string | number | bigint | boolean | null

/** A column-like field: what it is, how SQL says it, how JS reads it. */
export type Column = {
  name: string
  kind: 'string' | 'int' | 'double' | 'datetime'
  nullable: boolean
  /** Physical columns behind it. */
  reads: readonly string[]
  sql(of: ColumnSql): Sql
  /** Shorter SQL for the test for NULL. */
  isNull?(of: ColumnSql): Sql
  read(row: Row): string | number | bigint | null
}

/** Segment of a JSON path: a number may index an array or name a key. */
export type PathSegment = string | number

/** Place in a JSON text. When `over` is present and its text is not empty, the value is read there instead. */
export type JsonField = {
  document: string
  path: readonly PathSegment[]
  over?: { document: string; path: readonly PathSegment[] }
  /** The ref that leads to the document. With nothing behind it the field is NULL. */
  ref?: JsonField
  /** Takes no type from literals: it is a text until it is converted. */
  untyped?: true
  /** The document is a list of texts: equality and containment hold when they hold for one of them. */
  many?: true
}

type ListColumn = { name: string; column: string }

/** The meanings of a field name. */
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
  | { is: 'cast'; to: CastKind; of: Value }
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
