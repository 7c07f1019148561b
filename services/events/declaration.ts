// The declaration of an event: its topic, and the columns of its rows with their types and how each is written.
import type { RecordInput } from '../core/log/log.ts'
import type { Topic } from '../core/log/topic.ts'

/**
 * Form of a value in a row. `json` is a text of one line that holds JSON: objects and arrays are nested as they are,
 * anything else is put into a string. `jsonMap` is the JSON text of a map of texts.
 */
export type ColumnKind = 'text' | 'json' | 'optional' | 'choice' | 'number' | 'list' | 'map' | 'jsonMap'

/** A column whose values are of type `Value`. */
export type TopicColumn<Value = unknown> = {
  kind: ColumnKind
  /** ClickHouse type, with the default when it is not the type's own. */
  type: string
  /** Default of a number when it is not 0. */
  fallback?: string
  /** The default is written too, when it is given. */
  isAlwaysWritten?: boolean
  /** Never there: carries the type of the values. */
  value?: Value
}

export const always = <Value>(column: TopicColumn<Value>): TopicColumn<Value> => ({ ...column, isAlwaysWritten: true })

export const text: TopicColumn<string> = { kind: 'text', type: 'String' }
/** Column that identifies the thing that the row is about. */
export const key = always(text)
/** Accept timestamp: the version of what the row says. */
export const clock: TopicColumn<bigint> = { kind: 'number', type: 'UInt64' }
export const json: TopicColumn<string> = { kind: 'json', type: 'String' }
export const nullableText: TopicColumn<string | null> = { kind: 'optional', type: 'Nullable(String)' }
export const texts: TopicColumn<readonly string[]> = { kind: 'list', type: 'Array(String)' }
/** Only written by the writer of calls. */
export const integers: TopicColumn<readonly number[]> = { kind: 'list', type: 'Array(Int64)' }
export const textMap: TopicColumn<Readonly<Record<string, string>>> = { kind: 'map', type: 'Map(String, String)' }
export const numberMap: TopicColumn<Readonly<Record<string, number>>> = { kind: 'map', type: 'Map(String, Float64)' }
export const jsonMap: TopicColumn<string> = { kind: 'jsonMap', type: 'Map(String, String)' }

type NumberType = 'UInt8' | 'UInt16' | 'UInt32' | 'UInt64' | 'Int64' | 'Float64'

/** @param fallback the default when it is not 0 */
export const number = <Value extends number | bigint | string = number>(
  type: NumberType,
  fallback?: number,
): TopicColumn<Value> =>
  fallback === undefined
    ? { kind: 'number', type }
    : { kind: 'number', type: `${type} DEFAULT ${fallback}`, fallback: String(fallback) }

const enumOf = (names: readonly string[]): string =>
  `Enum8(${names.map((name, index) => `'${name}' = ${index + 1}`).join(', ')})`

/** One of the names. New ones come last: the numbers of the others are stored. */
export const choice = <const Name extends string>(...names: Name[]): TopicColumn<Name> => ({
  kind: 'choice',
  type: enumOf(names),
})

export const choices = <const Name extends string>(...names: Name[]): TopicColumn<readonly Name[]> => ({
  kind: 'list',
  type: `Array(${enumOf(names)})`,
})

type Columns = Readonly<Record<string, TopicColumn>>
type ValueOf<C> = C extends TopicColumn<infer Value> ? Value : never

/** Values of a row by column. */
export type ValuesOf<E extends { columns: Columns }> = { [Name in keyof E['columns']]: ValueOf<E['columns'][Name]> }

/** The same; what is not given has its default. */
export type RowOf<E extends { columns: Columns }> = {
  [Name in keyof E['columns']]?: ValueOf<E['columns'][Name]> | undefined
} & { project_id: string; clock: bigint }

export type DeclaredTopic<Name extends string = string, Of extends Columns = Columns> = Omit<Topic, 'columns'> & {
  name: Name
  /** One sentence for docs/events.md. */
  about: string
  columns: Of
  /** Written columns of a row, each as `"name":value`, separated by commas; defaults are left out. */
  cells(values: Readonly<Partial<RowOf<{ columns: Of }>>>): string
  /** The same of some columns alone. */
  part<const Part extends keyof Of & string>(
    ...names: Part[]
  ): (values: Readonly<Pick<ValuesOf<{ columns: Of }>, Part>>) => string
}

const needsNoEscapes = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** JSON string that the engine reads: lone surrogates become U+FFFD. */
export const quoted = (value: string): string =>
  value.length < 100 && needsNoEscapes.test(value) ? `"${value}"` : JSON.stringify(value.toWellFormed())

/** A JSON text as the value of a `json` column. */
const nested = (value: string): string => (value[0] === '{' || value[0] === '[' ? value : JSON.stringify(value))

const wellFormed = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

type Writing = { isDefault(value: never, fallback: string): boolean; text(value: never): string }

const writing: Record<ColumnKind, Writing> = {
  text: { isDefault: (value: string) => value === '', text: quoted },
  json: { isDefault: (value: string) => value === '', text: nested },
  optional: { isDefault: (value: string | null) => value === null, text: quoted },
  choice: { isDefault: () => false, text: (value: string) => `"${value}"` },
  number: { isDefault: (value: number | bigint | string, fallback) => String(value) === fallback, text: String },
  list: {
    isDefault: (value: readonly string[]) => value.length === 0,
    text: (value: readonly string[]) => `[${value.map(quoted).join()}]`,
  },
  map: {
    isDefault: (value: object) => Object.keys(value).length === 0,
    text: (value) => JSON.stringify(value, wellFormed),
  },
  jsonMap: { isDefault: (value: string) => value === '{}', text: (value: string) => value },
}

export function declareTopic<const Name extends string, const Of extends Columns>(
  topic: Omit<DeclaredTopic<Name, Of>, 'cells' | 'part'>,
): DeclaredTopic<Name, Of> {
  const written = Object.entries<TopicColumn>(topic.columns).map(
    ([name, { kind, fallback = '0', isAlwaysWritten = false }]) => {
      return { name, lead: `"${name}":`, isAlwaysWritten, fallback, ...writing[kind] }
    },
  )
  const cellsOf = (columns: typeof written, values: Readonly<Record<string, unknown>>): string => {
    let cells = ''
    for (const { name, lead, isAlwaysWritten, fallback, isDefault, text } of columns) {
      const value = values[name] as never
      if (value === undefined || (!isAlwaysWritten && isDefault(value, fallback))) continue
      cells += (cells === '' ? lead : `,${lead}`) + text(value)
    }
    return cells
  }
  return {
    ...topic,
    cells: (values) => cellsOf(written, values),
    part(...names) {
      const columns = written.filter(({ name }) => (names as string[]).includes(name))
      return (values) => cellsOf(columns, values)
    },
  }
}

/** A record whose rows, none of them a patch, all belong to one project. */
export const projectRecord = (
  projectId: string,
  record: Pick<RecordInput, 'rows' | 'rowCount' | 'clock' | 'key'>,
): RecordInput => ({ ...record, patchCount: 0, projects: new Map([[projectId, record.rows.length]]) })

/** A row as the line of a record. */
export const rowText = <Of extends Columns>(topic: DeclaredTopic<string, Of>, row: RowOf<{ columns: Of }>): string =>
  `{${topic.cells(row)}}\n`

/**
 * @param rows at least one, all of one project, the newest last
 * @param key partition key; absent: the project
 */
export function recordOfRows<Of extends Columns>(
  topic: DeclaredTopic<string, Of>,
  rows: readonly RowOf<{ columns: Of }>[],
  key?: string,
): RecordInput {
  const newest = rows.at(-1)
  if (newest === undefined) throw new Error(`a record of ${topic.name} without rows`)
  const { project_id: projectId, clock } = newest
  const lines = rows.map((row) => rowText(topic, row))
  return projectRecord(projectId, {
    rows: Buffer.from(lines.join('')),
    rowCount: lines.length,
    clock,
    key: key ?? projectId,
  })
}
