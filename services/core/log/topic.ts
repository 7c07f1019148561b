// The facts about a topic that the log and the store need. They get the list of topics when they are opened.

export type Topic = {
  name: string
  /**
   * Version of the row structure, written into every record header. A worker applies the version before its own too, as a
   * new version may only add columns: those that a row lacks have the defaults of their types. Any other stops it.
   */
  version: number
  /** Landing table of engine Null; views fill the tables from it. */
  landing: string
  /** Further landing tables of the same columns, for rows that need fewer views. */
  sideLandings?: readonly string[]
  /** ClickHouse types of the landing table's columns, in the order in which rows are written, without `_record`. */
  columns: Readonly<Record<string, { type: string }>>
  /** Rows are read within their own project only: its readers need not wait for those of others. */
  isReadByProject?: boolean
}

/** Topics by name. */
export type Topics = Readonly<Record<string, Topic>>

/** All landing tables of a topic. */
export const landingsOf = ({ landing, sideLandings = [] }: Topic): string[] => [landing, ...sideLandings]

/** @throws when there is no such topic */
export function topicIn(topics: Topics, name: string): Topic {
  const topic = Object.hasOwn(topics, name) ? topics[name] : undefined
  if (topic === undefined) throw new Error(`Unknown topic ${name}`)
  return topic
}

/** Structure argument of `file()` and of the server's input: the record header first, then the columns. */
export const structureOf = ({ columns }: Topic): string =>
  ['_record String', ...Object.entries(columns).map(([name, { type }]) => `${name} ${type}`)].join(', ')
