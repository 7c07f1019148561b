// The topic usage: what each key took of a project in a minute, as each process counted it.
import type { UsageMinute } from '../core/http/rates/meter.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, clock, declareTopic, key, number, recordOfRows, text } from './declaration.ts'

export const usageTopic = declareTopic({
  name: 'usage',
  about: 'What each key took of a project in a minute, as each process counted it.',
  version: 1,
  landing: 'usage_in',
  columns: {
    project_id: key,
    /** Seconds since 1970 at which the minute began. */
    minute_s: always(number('Int64')),
    key_id: text,
    /** The start of a process: its counts of a minute replace those that it wrote before. */
    process: key,
    clock,
    requests: number('UInt64'),
    refused: number('UInt64'),
    calls: number('UInt64'),
    bytes_in: number('UInt64'),
    bytes_stored: number('UInt64'),
    reads: number('UInt64'),
    read_ms: number('UInt64'),
    read_bytes: number('UInt64'),
    sampled_out: number('UInt64'),
    masked: number('UInt64'),
  },
})

/** One record per project. */
export function usageRecords(minutes: readonly UsageMinute[], process: string, clock: () => bigint): RecordInput[] {
  const byProject = Map.groupBy(minutes, ({ projectId }) => projectId)
  return [...byProject].map(([projectId, all]) => {
    const rows = all.map((one) => ({
      project_id: projectId,
      minute_s: one.minuteMs / 1000,
      key_id: one.keyId,
      process,
      clock: clock(),
      requests: one.requests,
      refused: one.refused,
      calls: one.calls,
      bytes_in: one.bytesIn,
      bytes_stored: one.bytesStored,
      reads: one.reads,
      read_ms: one.readMs,
      read_bytes: one.readBytes,
      masked: one.masked,
    }))
    return recordOfRows(usageTopic, rows)
  })
}
