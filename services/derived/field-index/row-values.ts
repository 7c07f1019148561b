// Reads the short field values of a call from its row on the way into the tables, as reading its payloads back would.
import { byteValueEnd } from '../../core/json/byte-walk.ts'
import { type FieldValueGroups, type Root, roots } from './groups.ts'

/** Larger payload rows are not indexed. */
export const maxPayloadBytes = 128 * 1024
/** Longer rows would hold the event loop while it is found where their payloads end: they are read back. */
const maxRowBytes = 4 * maxPayloadBytes

const leads = roots.map((root) => Buffer.from(`,"${root}":`))
const startBytesLead = Buffer.from(',"start_bytes":')
const endBytesLead = Buffer.from(',"end_bytes":')
const nonNativeLead = Buffer.from(',"odd":1')

/** The payloads that a row of a kind has a place for. */
const rootsOf = (isFinished: boolean): readonly Root[] => (isFinished ? roots : roots.slice(0, 2))

function isAt(text: Buffer, at: number, lead: Buffer): boolean {
  for (let i = 0; i < lead.length; i++) if (text[at + i] !== lead[i]) return false
  return true
}

/** Index after the number that follows a lead. */
function afterCount(text: Buffer, at: number, lead: Buffer): number {
  let i = at + lead.length
  while ((text[i] as number) >= 48 && (text[i] as number) <= 57) i++
  return i
}

/** Objects and arrays stand in a row as they are, everything else as a string that holds its JSON text. */
const documentOf = (text: Buffer, at: number, end: number): Buffer =>
  text[at] === 34 ? Buffer.from(JSON.parse(text.toString('utf8', at, end)) as string) : text.subarray(at, end)

/** Whether the payloads from `at` on are together too long to be indexed. */
function isTooLong(text: Buffer, at: number): boolean {
  let bytes = 0
  let i = at
  for (const lead of leads)
    if (isAt(text, i, lead)) {
      const from = i + lead.length
      i = byteValueEnd(text, from)
      bytes += documentOf(text, from, i).length
    }
  return bytes > maxPayloadBytes
}

/**
 * Adds the field values of a row of a finished call or of a start, as the writer of calls writes it: payloads last, in the
 * order of the columns. Returns false when it is not written in this way: what was added then is a part.
 */
export function addRowValues(groups: FieldValueGroups, text: Buffer, isFinished: boolean): boolean {
  try {
    return addDocuments(groups, text, isFinished)
  } catch {
    // No JSON: the engine will refuse it.
    return false
  }
}

function addDocuments(groups: FieldValueGroups, text: Buffer, isFinished: boolean): boolean {
  if (text.length > maxRowBytes) return false
  // The last columns before the payloads. In a value its quotes would be escaped.
  const counted = text.indexOf(startBytesLead)
  if (counted === -1) return false
  let at = afterCount(text, counted, startBytesLead)
  if (isFinished) {
    if (!isAt(text, at, endBytesLead)) return false
    at = afterCount(text, at, endBytesLead)
  }
  const isNonNative = isAt(text, at, nonNativeLead)
  if (isNonNative) at += nonNativeLead.length
  if (isNonNative || (text.length > maxPayloadBytes && isTooLong(text, at))) {
    for (const root of rootsOf(isFinished)) groups.addOpaque(root)
    return true
  }
  for (let n = 0; n < roots.length; n++) {
    const lead = leads[n] as Buffer
    if (!isAt(text, at, lead)) continue
    const from = at + lead.length
    const root = roots[n] as Root
    if (text[from] === 34) {
      at = byteValueEnd(text, from)
      groups.addDocument(root, documentOf(text, from, at))
    } else at = groups.addDocument(root, text, from)
  }
  // The next member is the dump of a span, or the object ends.
  return text[at] === 125 || text[at] === 44
}
