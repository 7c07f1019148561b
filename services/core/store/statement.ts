// The settings of every statement: its limits, and the settings on which the meaning of our queries depends.
import { bindParams, quote } from './chdb/literals.ts'
import { type Query, StoreError } from './store.ts'

export type Settings = Record<string, string | number>

export type Limits = { timeoutMs: number; memoryBytes: number }

/** Settings of a read. A query's own SETTINGS clause wins over them. @param limits.rows to go through; 0 = any number */
export const readSettings = (limits: Limits & { resultBytes: number; rows?: number }): Settings => ({
  ...(limits.rows ? { max_rows_to_read: limits.rows, read_overflow_mode: 'throw' } : {}),
  max_execution_time: limits.timeoutMs / 1000,
  timeout_overflow_mode: 'throw',
  max_memory_usage: limits.memoryBytes,
  max_result_bytes: limits.resultBytes,
  result_overflow_mode: 'throw',
  // Versions of one key never lie in two partitions: the partition follows from the sorting key in every table.
  do_not_merge_across_partitions_select_final: 1,
  // Skip indexes under FINAL miss rows unless the other parts of a granule's range are read too.
  use_skip_indexes_if_final: 1,
  use_skip_indexes_if_final_exact_mode: 1,
  optimize_move_to_prewhere_if_final: 0,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_escape_forward_slashes: 0,
})

/** Priority of statements where the process may set it (CAP_SYS_NICE); elsewhere all statements are alike. */
const priority = (nice: number): Settings => ({
  os_threads_nice_value_query: nice,
  os_threads_nice_value_materialized_view: nice,
})

/** Settings of the statements that write: merges of calls, dirty buckets and inserts. */
export const writeSettings = (limits: Limits): Settings => ({
  // Somebody waits for an acknowledgement, or for what is read.
  ...priority(2),
  max_execution_time: limits.timeoutMs / 1000,
  timeout_overflow_mode: 'throw',
  max_memory_usage: limits.memoryBytes,
  do_not_merge_across_partitions_select_final: 1,
  optimize_move_to_prewhere_if_final: 0,
  async_insert: 0,
  insert_deduplicate: 0,
  // A late batch may touch many months.
  max_partitions_per_insert_block: 0,
})

/** Priority of counters and exports: below requests and batches. */
export const lowPriority = priority(10)

export const settingsText = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quote(value)}`)
    .join(', ')

/**
 * The query's text with its values in it. Refuses more than one statement.
 * @param keep parameters that stay in the text, as their values travel beside it
 */
export function bind(query: Query, keep?: (name: string, type: string) => boolean): string {
  try {
    return bindParams(query.sql, query.params, keep)
  } catch (error) {
    throw new StoreError('query', 0, `${query.name}: ${error instanceof Error ? error.message : error}`)
  }
}

/** A read with its format, its limits and the tag by which it can be killed. */
export const readStatement = (query: Query, format: string, settings: Settings, tag: string): string =>
  `${bind(query)}\nFORMAT ${formatName(format)} SETTINGS ${settingsText(settings)}, log_comment = ${quote(tag)}`

export function formatName(format: string): string {
  if (!/^[A-Za-z0-9]+$/.test(format)) throw new StoreError('query', 0, `unknown format ${format}`)
  return format
}
