// Declaration of a table: its columns and keys as the migrations make them, and everything else that holds of its rows.

/** Relation of a table's rows to other tables. Most tables hold the records of a topic: they have no kind. */
export type TableKind =
  /** Positions of the log that are applied. */
  | 'applied'
  /** Dirty buckets. */
  | 'dirty'
  /** Positions up to which derived tables cover the dirty buckets. */
  | 'cover'
  /** Recomputed for dirty buckets; a row is of many calls. */
  | 'rollup'
  /** Found by the worker in the rows of calls. */
  | 'finding'
  /** Copies of columns of calls, made by views. */
  | 'copy'
  /** Rows by which calls are found. */
  | 'call'
  | 'payload'
  /** A worker's own, in memory. */
  | 'scratch'

/** Kinds of data for which a project has a retention. */
export type Retained = 'calls' | 'payloads' | 'stats' | 'logs'

/** Rows that are older than their project keeps them: by which column, and by which of its retentions. */
export type Aged<Of extends string = Retained> = { by: string; of: Of }

/** Rows that are removed when something is erased. */
export type Erasable =
  /** Those whose column is the id of an erased call; `isLater`: up to the delete, as they may come after it and stay. */
  | { call: string; where?: string; isLater?: true }
  /** The same, of a column with refs. */
  | { ref: string; isLater?: true }
  /** Those whose column is the id of an erased log record. `isCall`: also of one that is itself a call. */
  | { record: string; byTime?: true; isCall?: true }
  /** The values of rows at the times of erased payloads, of `at` and of the lists that have an entry for each of its own. */
  | { values: readonly string[] }
  /** Files that nothing else names, and what was made of texts of calls. */
  | { unnamed: true }

/** Lines of an export, made from rows. */
export type ExportedLine = {
  /** About the size of a line. */
  bytes: string
  /** Expressions of what is no column of the same name. */
  cells?: Readonly<Record<string, string>>
  /** Rows that have lines. */
  only?: string
}

export type TableDeclaration = {
  /** One sentence for docs/tables.md. */
  about: string
  /** As in `CREATE TABLE`, without codecs; of a default the word alone. */
  columns: string
  /** As `system.tables` says it, without settings. The key begins with the project, where rows belong to one. */
  engine: string
  kind?: TableKind
  /** Name of the rollup that writes the table, another table of which may have that name. */
  rollup?: string
  /** Rows that readers do not see. What is looked up by rows that were seen is not hidden, nor what is not about calls. */
  hidden?: Aged<Retained | 'values'>
  /** Rows that the daily purge removes; `aside` = a part of it that looks at more than their age. */
  purged?: Aged | 'aside'
  /** By which setting whole partitions are dropped. */
  dropped?: 'logs' | 'joins' | 'due' | 'usage'
  erased?: Erasable
  /** Rows are about a project, not its own: they stay when it is removed. */
  outlastsProject?: true
} & (
  | {
      /** Views that fill the table, `<source>_to_<anything>`. */
      views: readonly string[]
      /**
       * Lines of an export; `joined` = other tables have a part in them (services/operations/transfer). The rows of the others
       * follow from these, or are an installation's own.
       */
      exported: ExportedLine | 'joined' | false
    }
  | { views?: never; exported?: never }
)

export type TableDeclarations = Readonly<Record<string, TableDeclaration>>

/** Rows are hidden, and then purged, by one column. */
export const aged = <const By extends string, const Of extends Retained>(by: By, of: Of) => ({
  hidden: { by, of },
  purged: { by, of },
})

// Types of columns.
export const word = 'LowCardinality(String)'
export const micros = "DateTime64(6, 'UTC')"
export const nanos = "DateTime64(9, 'UTC')"
export const seconds = "DateTime('UTC')"
