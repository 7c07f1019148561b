// Turns a typed tree into SQL. Each case has its twin in `evaluate.ts`.
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import { jsonExists, jsonString, mayContain } from './json-sql.ts'
import type { CastKind, ColumnSql, CompareOp, Condition, Kind, Value } from './types.ts'
import { isCondition, kindOf } from './typing.ts'
import { fewPrefixes, prefixesAtOnce } from './weight.ts'

const compareSigns: Record<CompareOp, Sql> = { eq: sql`=`, gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }

function literalSql(kind: Kind, value: string | number | bigint | boolean): Sql {
  switch (kind) {
    case 'string':
      return param('String', value)
    case 'int':
      return param('Int64', value)
    case 'double':
      return param('Float64', value)
    case 'bool':
      return value ? sql`true` : sql`false`
    case 'datetime':
      return sql`fromUnixTimestamp64Micro(${param('Int64', value)}, 'UTC')`
  }
}

/** Casts to a kind, by the kind that is cast. */
type Casts = { [From in Kind]?: (of: Sql) => Sql } & { others: (of: Sql) => Sql }

/** Operands appear once in every form, so that nested casts stay linear. */
const castsTo: Record<CastKind, Casts> = {
  string: {
    string: (of) => of,
    bool: (of) => sql`toString(toBool(${of}))`,
    datetime: (of) => sql`replaceOne(formatDateTime(${of}, '%Y-%m-%dT%H:%i:%S.%fZ'), '.000000Z', 'Z')`,
    others: (of) => sql`toString(${of})`,
  },
  int: {
    string: (of) => sql`toInt64OrNull(${of})`,
    double: (of) => sql`toInt64OrNull(toString(${of}))`,
    datetime: (of) => sql`intDiv(toUnixTimestamp64Micro(${of}), 1000000)`,
    others: (of) => sql`toInt64(${of})`,
  },
  double: {
    string: (of) => sql`ifNotFinite(toFloat64OrNull(${of}), NULL)`,
    datetime: (of) => sql`(toUnixTimestamp64Micro(${of}) / 1000000)`,
    others: (of) => sql`toFloat64(${of})`,
  },
  bool: {
    string: (of) => sql`toUInt8OrNull(transform(ifNull(${of}, ''), ['true', 'false'], ['1', '0']))`,
    bool: (of) => of,
    datetime: (of) => sql`(toUnixTimestamp64Micro(${of}) != 0)`,
    others: (of) => sql`(${of} != 0)`,
  },
}

const castSql = (to: CastKind, from: Kind, of: Sql): Sql => (castsTo[to][from] ?? castsTo[to].others)(of)

function inSql(node: Extract<Condition, { is: 'in' }>, of: ColumnSql): Sql {
  if (node.values.length === 0) return sql`false`
  const left = compileValue(node.left, of)
  switch (node.kind) {
    case 'string':
      return sql`(${left} IN (${param('Array(String)', node.values)}))`
    case 'int':
      return sql`(${left} IN (${param('Array(Int64)', node.values)}))`
    case 'double':
      return sql`(toFloat64(${left}) IN (${param('Array(Float64)', node.values)}))`
    case 'datetime': {
      const times = param('Array(Int64)', node.values)
      return sql`(${left} IN (arrayMap(us -> fromUnixTimestamp64Micro(us, 'UTC'), ${times})))`
    }
  }
}

function memberSql(node: Extract<Condition, { is: 'member' }>, of: ColumnSql): Sql {
  const list = of(node.list.column)
  const value = compileValue(node.value, of)
  if (node.fold) return sql`arrayExists(ref -> ifNull(lowerUTF8(ref) = lowerUTF8(${value}), false), ${list})`
  if (node.value.is === 'literal') return sql`has(${list}, ${value})`
  return sql`arrayExists(ref -> ifNull(ref = ${value}, false), ${list})`
}

function amongSql({ document, how, value, fold }: Extract<Condition, { is: 'among' }>, of: ColumnSql): Sql {
  const wanted = compileValue(value, of)
  const position = fold ? sql`positionCaseInsensitiveUTF8` : sql`position`
  const holds = how === 'equal' ? sql`item = ${wanted}` : sql`${position}(item, ${wanted}) > 0`
  return sql`arrayExists(item -> ifNull(${holds}, false), JSONExtract(${of(document)}, 'Array(String)'))`
}

function startsWithSql(input: Sql, prefixes: readonly string[]): Sql {
  const tests: Sql[] = []
  if (prefixes.length <= fewPrefixes)
    for (const prefix of prefixes) tests.push(sql`startsWith(${input}, ${param('String', prefix)})`)
  else
    for (let at = 0; at < prefixes.length; at += prefixesAtOnce)
      // The first place of any of them: what a text starts with comes before all else in it.
      tests.push(
        sql`multiSearchFirstPosition(${input}, ${param('Array(String)', prefixes.slice(at, at + prefixesAtOnce))}) = 1`,
      )
  return tests.length === 1 ? (tests[0] as Sql) : sql`(${join(tests, ' OR ')})`
}

function anyOfSql({ list, values, prefixes }: Extract<Condition, { is: 'anyOf' }>, of: ColumnSql): Sql {
  const tests: Sql[] = []
  if (values.length > 0) tests.push(sql`hasAny(${of(list.column)}, ${param('Array(String)', values)})`)
  if (prefixes.length > 0) tests.push(sql`arrayExists(ref -> ${startsWithSql(sql`ref`, prefixes)}, ${of(list.column)})`)
  return tests.length === 0 ? sql`false` : sql`(${join(tests, ' OR ')})`
}

function containsSql({ input, substr, fold }: Extract<Condition, { is: 'contains' }>, of: ColumnSql): Sql {
  const find = fold ? sql`positionCaseInsensitiveUTF8` : sql`position`
  const found = sql`(${find}(${compileValue(input, of)}, ${compileValue(substr, of)}) > 0)`
  // A field behind a ref may be NULL, which the test could not tell.
  if (input.is !== 'json' || input.json.ref || substr.is !== 'literal') return found
  const first = mayContain(input.json, String(substr.value), fold, of)
  return first === null ? found : sql`(${first} AND ${found})`
}

/** Boolean expression, Nullable where the condition can be NULL. */
export function compileCondition(node: Condition, of: ColumnSql): Sql {
  switch (node.is) {
    case 'and':
    case 'or': {
      const operands = node.of.map((operand) => compileCondition(operand, of))
      return sql`(${join(operands, node.is === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return sql`NOT (${compileCondition(node.of, of)})`
    case 'compare':
      return sql`(${compileValue(node.left, of)} ${compareSigns[node.op]} ${compileValue(node.right, of)})`
    case 'isNull':
      if (node.of.is === 'column' && node.of.column.isNull) return node.of.column.isNull(of)
      return sql`isNull(${compileValue(node.of, of)})`
    case 'exists':
      return sql`(${jsonExists(node.json, of)})`
    case 'in':
      return inSql(node, of)
    case 'startsWith':
      return startsWithSql(compileValue(node.input, of), node.prefixes)
    case 'contains':
      return containsSql(node, of)
    case 'member':
      return memberSql(node, of)
    case 'anyOf':
      return anyOfSql(node, of)
    case 'among':
      return amongSql(node, of)
    case 'truth': {
      const value = compileValue(node.of, of)
      const kind = kindOf(node.of)
      if (kind === 'string') return sql`(${value} != '')`
      return kind === 'datetime' ? sql`(toUnixTimestamp64Micro(${value}) != 0)` : sql`(${value} != 0)`
    }
    case 'constant':
      if (node.value === null) return sql`CAST(NULL, 'Nullable(Bool)')`
      return node.value ? sql`true` : sql`false`
  }
}

/** Expression for a value; Nullable where it can be NULL. */
export function compileValue(node: Value, of: ColumnSql): Sql {
  // The engine would move a bare NOT outside the comparison: not(a) = 5 became not(a = 5).
  if (isCondition(node)) return sql`toUInt8(${compileCondition(node, of)})`
  switch (node.is) {
    case 'literal':
      return literalSql(node.kind, node.value)
    case 'null':
      return sql`CAST(NULL, 'Nullable(String)')`
    case 'json':
      if (node.json.ref) return sql`if(${of(node.json.document)} = '', NULL, ${jsonString(node.json, of)})`
      return jsonString(node.json, of)
    case 'column':
      return node.column.sql(of)
    case 'cast':
      return castSql(node.to, kindOf(node.of), compileValue(node.of, of))
    case 'length':
      return sql`length(${compileValue(node.of, of)})`
    case 'listLength':
      return sql`length(${of(node.list.column)})`
  }
}
