// The stored form of a record: the header's fixed text layout, its checksums, and the walk over a segment's bytes.
import { crc32 } from 'node:zlib'
import type { RecordHeader } from './log.ts'

/** A header as it stands in a segment. */
export type StoredHeader = RecordHeader & {
  /** Greatest accept timestamp of the topic up to and including this record; records are not stored in the order of their timestamps. */
  highClock: bigint
  /** Milliseconds since 1970 at which the record was appended. */
  appendedMs: number
  /** Number of records of the same write that precede it; `offset - groupIndex` was durable before this write began. */
  groupIndex: number
}

/**
 * Layout of the header text, decimal and padded with zeros, separated by spaces:
 * offset(16) version(4) size(10) rows(8) patches(8) clock(20) highClock(20) appendedMs(14) groupIndex(8)
 * headCrc(8 hex, of all before it) crc(8 hex, of the whole record without these eight digits).
 * `size` is the stored size of the record, header included.
 */
const opening = '{"_record":"'
const widths = [16, 4, 10, 8, 8, 20, 20, 14, 8] as const
const headCrcAt = opening.length + widths.reduce<number>((sum, width) => sum + width + 1, 0)
const crcAt = headCrcAt + 9

/** Bytes that a header takes; it replaces the `{` of the record's first row. */
const headBytes = crcAt + 8 + 2

/** The least that a disk writes as one. */
const sectorBytes = 512

const hex = (value: number): string => value.toString(16).padStart(8, '0')

/** Size of a record in a segment. */
export const storedBytes = (rows: Buffer): number => headBytes - 1 + rows.length

/** The header that has to be written before `rows.subarray(1)`. `header.sizeBytes` is ignored. */
export function encodeHead(header: Omit<StoredHeader, 'sizeBytes'>, rows: Buffer): Buffer {
  const values = [
    header.offset,
    header.version,
    storedBytes(rows),
    header.rowCount,
    header.patchCount,
    header.clock,
    header.highClock,
    header.appendedMs,
    header.groupIndex,
  ]
  let text = opening
  for (let i = 0; i < widths.length; i++) text += `${String(values[i]).padStart(widths[i] as number, '0')} `
  const head = Buffer.allocUnsafe(headBytes)
  head.write(text, 0, 'latin1')
  head.write(`${hex(crc32(head.subarray(0, headCrcAt)))} `, headCrcAt, 'latin1')
  // A row without members must not be followed by a comma.
  head.write(`"${hasMembers(rows) ? ',' : ' '}`, crcAt + 8, 'latin1')
  const crc = crc32(rows.subarray(1), crc32(head.subarray(crcAt + 8), crc32(head.subarray(0, crcAt))))
  head.write(hex(crc), crcAt, 'latin1')
  return head
}

function hasMembers(rows: Buffer): boolean {
  for (let i = 1; i < rows.length; i++) {
    const byte = rows[i] as number
    if (byte > 0x20) return byte !== 0x7d
  }
  return false
}

/** The header at `at`, or null when the bytes there are not an intact header. The record itself is not checked. */
function decodeHead(bytes: Buffer, at: number): StoredHeader | null {
  if (at + headBytes > bytes.length) return null
  const text = bytes.toString('latin1', at, at + headBytes)
  if (!text.startsWith(opening)) return null
  if (text.slice(headCrcAt, headCrcAt + 8) !== hex(crc32(bytes.subarray(at, at + headCrcAt)))) return null
  const field = text.slice(opening.length, headCrcAt).split(' ')
  return {
    offset: Number(field[0]),
    version: Number(field[1]),
    sizeBytes: Number(field[2]),
    rowCount: Number(field[3]),
    patchCount: Number(field[4]),
    clock: BigInt(field[5] as string),
    highClock: BigInt(field[6] as string),
    appendedMs: Number(field[7]),
    groupIndex: Number(field[8]),
  }
}

function isIntact(bytes: Buffer, at: number, sizeBytes: number): boolean {
  const crc = crc32(bytes.subarray(at + crcAt + 8, at + sizeBytes), crc32(bytes.subarray(at, at + crcAt)))
  return bytes.toString('latin1', at + crcAt, at + crcAt + 8) === hex(crc)
}

/** Rows of a stored record as they were appended. Writes one byte into `bytes`, which afterwards is no record any more. */
export function rowsOf(bytes: Buffer, at: number, sizeBytes: number): Buffer {
  bytes[at + headBytes - 1] = 0x7b
  return bytes.subarray(at + headBytes - 1, at + sizeBytes)
}

export type Walk = {
  records: StoredHeader[]
  /** Bytes of the intact records at the beginning. */
  wholeBytes: number
  /** Null when every byte belongs to an intact record. `torn` = the rest can only be a write that never finished. */
  problem: { torn: boolean; what: string } | null
}

/** Checks the bytes of a segment whose first record has the number `firstOffset`. */
export function walk(bytes: Buffer, firstOffset: number): Walk {
  const records: StoredHeader[] = []
  let at = 0
  while (at < bytes.length) {
    const offset = firstOffset + records.length
    const head = decodeHead(bytes, at)
    const fits = head !== null && head.offset === offset && at + head.sizeBytes <= bytes.length
    if (!fits || !isIntact(bytes, at, head.sizeBytes))
      return { records, wholeBytes: at, problem: classify(bytes, at, offset, head) }
    records.push(head)
    at += head.sizeBytes
  }
  return { records, wholeBytes: at, problem: null }
}

/**
 * Number of the first record of a segment whose name is lost; null when its first write never finished, and an Error when
 * it did and is damaged.
 */
export function firstOffsetOf(bytes: Buffer): number | null | Error {
  const head = decodeHead(bytes, 0)
  if (head !== null) return head.offset
  // Only the first record of a later write stands behind others and has none of its own write before it.
  const isTorn =
    bytes.length < headBytes || (hasHole(bytes, 0) && !holds(bytes, 0, ({ groupIndex }) => groupIndex === 0))
  return isTorn ? null : new Error('the header of its first record is not intact')
}

/**
 * Tells an unfinished write from damage. A write that a crash cut short leaves a file that ends too early, or blocks
 * that were allocated and never written: runs of zero bytes, which rows cannot contain. Everything else is damage, and
 * so is a hole that an intact record of a later write follows, because that write began after the hole was synced.
 */
function classify(bytes: Buffer, at: number, offset: number, head: StoredHeader | null): Walk['problem'] {
  if (bytes.length - at < headBytes) return { torn: true, what: 'the file ends within a header' }
  if (head !== null && head.offset !== offset)
    return { torn: false, what: `record ${head.offset} stands where ${offset} is expected` }
  if (head !== null && at + head.sizeBytes > bytes.length)
    return { torn: true, what: `the file ends within record ${offset}` }
  const what = head === null ? `the header of record ${offset} is not intact` : `checksum of record ${offset} differs`
  const isLater = (later: StoredHeader) => later.offset - later.groupIndex > offset
  return { torn: hasHole(bytes, at) && !holds(bytes, at, isLater), what }
}

/** Bytes that were not written: a run of zeros, or less than that where the write began within a sector. */
function hasHole(bytes: Buffer, from: number): boolean {
  if (bytes[bytes.length - 1] === 0 || bytes.indexOf(Buffer.alloc(8), from) !== -1) return true
  return bytes.subarray(from, from + sectorBytes - (from % sectorBytes)).every((byte) => byte === 0)
}

/** Whether an intact record behind `from` is one of those. */
function holds(bytes: Buffer, from: number, isWanted: (head: StoredHeader) => boolean): boolean {
  for (let at = bytes.indexOf(opening, from + 1); at !== -1; at = bytes.indexOf(opening, at + 1)) {
    // Within a row others could write it.
    if (bytes[at - 1] !== 0x0a && bytes[at - 1] !== 0) continue
    const head = decodeHead(bytes, at)
    if (head === null || at + head.sizeBytes > bytes.length) continue
    if (isWanted(head) && isIntact(bytes, at, head.sizeBytes)) return true
  }
  return false
}
