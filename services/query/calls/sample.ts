// The latest calls that match a query, as far as values of them are looked up: where they and their ends lie.
import { rowReader } from '../compact-rows.ts'
import { readPages } from './access/read-calls.ts'
import type { CallKey } from './access/scope.ts'
import { type PayloadPlace, payloadPlace } from './payloads.ts'
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

const columns = rowReader<PayloadPlace>(payloadPlace)

/** @param reader whose query is in descending order of start time */
export async function readSample(reader: CallReader): Promise<Sample> {
  const sample: Sample = { calls: [], endUs: [] }
  const page = { columns, limit: sampledCalls, offset: 0, rows: statementRows }
  for await (const { rows } of readPages(reader, page))
    for (const { startedUs, id, hasEnd, outputUs } of rows) {
      sample.calls.push({ startedUs, id })
      if (hasEnd && outputUs !== startedUs) sample.endUs.push(outputUs)
    }
  return sample
}
