// A record as a Kafka message: the rows are the value, byte for byte, or where they lie in blob storage; the header of
// the record is a message header.
import type { RecordHeader, RecordInput } from '../log.ts'

const headerName = 'record'
/**
 * Header in place of the other one when the value says where the rows are. Builds that do not know it stop as at an
 * unknown version.
 */
const largeHeaderName = 'large'

export type KafkaHeaders = Record<string, string>

/** @param highClock greatest accept timestamp that this process appended to any topic, this record included */
export const encodeHeaders = (input: RecordInput, version: number, highClock: bigint): KafkaHeaders => ({
  [headerName]: `${version} ${input.rowCount} ${input.patchCount} ${input.clock} ${highClock}`,
})

export const encodeLargeHeaders = (input: RecordInput, version: number, highClock: bigint): KafkaHeaders => ({
  [largeHeaderName]: `${encodeHeaders(input, version, highClock)[headerName]} ${input.rows.length}`,
})

export type StoredHeaders = Omit<RecordHeader, 'offset' | 'sizeBytes'> & {
  highClock: bigint
  /** Bytes of rows that lie in blob storage; null when the value is the rows. */
  largeBytes: number | null
}

const form = /^(\d{1,6}) (\d{1,9}) (\d{1,9}) (\d{1,20}) (\d{1,20})(?: (\d{1,15}))?$/

/** Version 0, which no build knows, when the message was not written by Callhouse: the worker then stops. */
export function decodeHeaders(headers: Record<string, unknown> | undefined): StoredHeaders {
  const match = form.exec(String(headers?.[headerName] ?? headers?.[largeHeaderName] ?? ''))
  if (match === null) return { version: 0, rowCount: 0, patchCount: 0, clock: 0n, highClock: 0n, largeBytes: null }
  const [, version, rowCount, patchCount, clock, highClock, largeBytes] = match as unknown as string[]
  return {
    version: Number(version),
    rowCount: Number(rowCount),
    patchCount: Number(patchCount),
    clock: BigInt(clock as string),
    highClock: BigInt(highClock as string),
    largeBytes: largeBytes === undefined ? null : Number(largeBytes),
  }
}

/** Bytes that Kafka and the batch add to a message, rounded up. */
export const overheadBytes = 256

/** FNV-1a of the key; a key that is a partition's number, as the writer of calls makes it, is that partition. */
export function partitionOf(key: string, partitions: number): number {
  if (/^\d{1,5}$/.test(key) && Number(key) < partitions) return Number(key)
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % partitions
}

/** First bytes of a row of calls that is no patch. */
const wholeCall = Buffer.from('{"kind":"complete"')

/** Parts of a record that fit into `limitBytes` each, but for single rows that are larger; the whole when its rows cannot be told apart. */
export function splitRecord(input: RecordInput, limitBytes: number): RecordInput[] {
  const { rows, rowCount, patchCount } = input
  if (rows.length <= limitBytes) return [input]
  const isMixed = patchCount !== 0 && patchCount !== rowCount
  const isPatch = (at: number): boolean =>
    isMixed ? wholeCall.compare(rows, at, at + wholeCall.length) !== 0 : patchCount !== 0
  const parts: RecordInput[] = []
  let from = 0
  let end = 0
  let counts = { rowCount: 0, patchCount: 0 }
  const all = { rowCount: 0, patchCount: 0 }
  const close = (): void => {
    parts.push({ ...input, ...counts, rows: rows.subarray(from, end) })
    all.rowCount += counts.rowCount
    all.patchCount += counts.patchCount
    counts = { rowCount: 0, patchCount: 0 }
    from = end
  }
  while (end < rows.length) {
    const next = rows.indexOf(10, end) + 1
    if (next - from > limitBytes && counts.rowCount > 0) close()
    counts.rowCount++
    if (isPatch(end)) counts.patchCount++
    end = next
  }
  close()
  return all.rowCount === rowCount && all.patchCount === patchCount ? parts : [input]
}
