// The latest calls that match a query, as far as values of them are looked up: where they and their ends lie.
import { type Sql, sql } from '../../core/store/sql.ts'
import { readPages } from './access/read-calls.ts'
import type { CallKey } from './access/scope.ts'
import { columnIndex } from './header.ts'
import type { CallReader } from './reader.ts'

/** Calls of a sample. */
const sampledCalls = 20_000
/** Calls that are read at once. */
const statementRows = 10_000

export type Sample = {
  calls: CallKey[]
  /** Times of the ends that may lie apart from their starts. */
  endUs: number[]
}

/** A call header with all but the keys left out. */
const select: Sql = sql`c.id, '', '', toUnixTimestamp64Micro(c.started_at), '', 0, '', 0, c.end_ver > 0,
  toUnixTimestamp64Micro(c.output_at)`

/** @param reader whose query is in descending order of start time */
export async function readSample(reader: CallReader): Promise<Sample> {
  const sample: Sample = { calls: [], endUs: [] }
  const page = { select, limit: sampledCalls, offset: 0, rows: statementRows }
  for await (const { rows } of readPages(reader, page))
    for (const row of rows) {
      const startedUs = row[columnIndex.startedUs]
      sample.calls.push({ startedUs, id: row[columnIndex.id] })
      if (row[columnIndex.hasEnd] && row[columnIndex.outputUs] !== startedUs)
        sample.endUs.push(row[columnIndex.outputUs])
    }
  return sample
}
