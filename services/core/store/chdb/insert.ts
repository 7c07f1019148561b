// One insert: a file of JSON rows, read by the engine itself, into a topic's landing table.
import { structureOf, type Topic } from '../../log/topic.ts'
import { type Settings, settingsText } from '../statement.ts'
import { quote } from './literals.ts'

/** `file()` expands wildcards, archives and schemes in other paths and may then read nothing and say nothing. */
export const isPlainPath = (path: string): boolean => /^\/[A-Za-z0-9_./-]+$/.test(path)

/** Settings for reading rows: exactly as the edge wrote them, or not at all. */
export const readingSettings: Settings = {
  input_format_skip_unknown_fields: 0,
  input_format_import_nested_json: 0,
  input_format_defaults_for_omitted_fields: 1,
  input_format_null_as_default: 0,
  input_format_json_read_objects_as_strings: 1,
  input_format_json_read_arrays_as_strings: 1,
  input_format_json_read_numbers_as_strings: 1,
  input_format_json_read_bools_as_strings: 1,
  input_format_json_max_depth: 100_000,
  input_format_allow_errors_num: 0,
  input_format_allow_errors_ratio: 0,
}

/** One block per segment: each view then writes one part per month. Views side by side: a small insert waits for syncs. */
export const blockSettings: Settings = {
  input_format_parallel_parsing: 0,
  parallel_view_processing: 1,
  max_insert_block_size: 1_000_000,
  min_insert_block_size_rows: 1_000_000,
  min_insert_block_size_bytes: 512 * 2 ** 20,
  // Each month of a block is a part per table, all of them open at once: the worker takes a few months at a time instead.
  max_partitions_per_insert_block: 16,
  throw_on_max_partitions_per_insert_block: 1,
}

/** @param tag recorded with the number of rows that arrived in the landing table */
export function insertStatement(topic: Topic, path: string, settings: Settings, tag: string): string {
  if (!isPlainPath(path)) throw new Error(`not a plain path: ${path}`)
  return (
    `INSERT INTO callhouse.${topic.landing} ` +
    `SELECT * FROM file(${quote(path)}, 'JSONEachRow', ${quote(structureOf(topic))}, 'none') ` +
    `SETTINGS ${settingsText({ ...settings, ...readingSettings, ...blockSettings })}, log_comment = ${quote(tag)}`
  )
}

/**
 * The engine reports no row count for such an insert, so a view counts what arrives in the landing table.
 * It keeps the counts of the last inserts only.
 */
export const countingStatements = (topic: Topic): string[] => [
  'CREATE TABLE IF NOT EXISTS callhouse.landed (tag String, rows UInt64) ENGINE = Memory ' +
    'SETTINGS min_rows_to_keep = 100, max_rows_to_keep = 1000',
  `CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.${topic.landing}_to_landed TO callhouse.landed AS ` +
    `SELECT getSetting('log_comment') AS tag, count() AS rows FROM callhouse.${topic.landing}`,
]
