// Exchanges rows inside of stored records: numbers, clocks and the count of rows stay, so that what reads the log later
// finds the same records with other rows.
import type { ChangeRows } from '../log.ts'
import { encodeHead, rowsOf, walk } from '../record.ts'
import { LogDamage, publicHeader } from './segment.ts'

/**
 * The bytes of a segment with other rows; null when nothing changes.
 * @throws LogDamage when a record is not intact
 */
export function rewritten(path: string, bytes: Buffer, firstOffset: number, change: ChangeRows): Buffer[] | null {
  const { records, wholeBytes, problem } = walk(bytes, firstOffset)
  if (problem !== null) throw new LogDamage(path, wholeBytes, problem.what)
  const parts: Buffer[] = []
  let isChanged = false
  let at = 0
  for (const stored of records) {
    const record = bytes.subarray(at, at + stored.sizeBytes)
    at += stored.sizeBytes
    const changed = change(rowsOf(Buffer.from(record), 0, record.length), publicHeader(stored))
    if (changed === null) {
      parts.push(record)
      continue
    }
    isChanged = true
    const { rows, patchCount } = changed
    parts.push(encodeHead({ ...stored, patchCount }, rows), rows.subarray(1))
  }
  return isChanged ? parts : null
}
