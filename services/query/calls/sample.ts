// The latest calls that match a query, as far as values of them are looked up: where they and their ends lie.
import { rowReader } from '../compact-rows.ts'
import { dirtyRanges } from './access/dirty-times.ts'
import { readDirtyMinutes } from './access/field-index.ts'
import { readPages } from './access/read-calls.ts'
import { type PayloadPlace, payloadPlace } from './payloads.ts'
import type { CallReader } from './reader.ts'
import type { CallKey, Range } from './scope.ts'

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

/** Longest gaps between calls that are not indexed yet, behind which others of that kind may lie. */
const maxGaps = 3

/**
 * The latest calls whose values the field index has, where it has none of a whole sample yet: beside thousands of calls a
 * second it is behind by more than a sample.
 */
export async function readIndexedSample(reader: CallReader, latest: Sample): Promise<Sample> {
  if (latest.calls.length < sampledCalls) return latest
  const ranges = dirtyRanges((await readDirtyMinutes(reader)) ?? [])
  const isIn = (us: number) => (range: Range) => us >= (range.fromUs ?? us) && us < (range.beforeUs ?? us + 1)
  let sample = latest
  for (let gap = 0; gap < maxGaps; gap++) {
    const around = sample.calls.map(({ startedUs }) => ranges?.find(isIn(startedUs)))
    const fromUs = around.at(-1)?.fromUs
    if (fromUs === undefined || fromUs === null || around.includes(undefined)) break
    const { query } = reader
    sample = await readSample({ ...reader, query: { ...query, facts: { ...query.facts, startedBefore: fromUs } } })
  }
  return sample.calls.length === 0 ? latest : sample
}
