// Range requests (RFC 9110, section 14): which bytes of a content an answer holds.
import type { ByteRange } from '../blobs/blobs.ts'
import { Fault } from './errors.ts'

const single = /^bytes[ \t]*=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * The one range that is asked for; null when the whole content is the answer: without a range, with several or
 * unreadable ones, or when `If-Range` names another content.
 * @throws Fault 416 for a range that lies outside of the content
 */
export function requestedRange(
  headers: { range: string | undefined; ifRange: string | undefined },
  content: { sizeBytes: number; etag: string },
): ByteRange | null {
  const { sizeBytes, etag } = content
  const { range, ifRange } = headers
  if (range === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return null
  const match = single.exec(range)
  if (match === null) return null
  const [, first, last, suffix] = match
  const start = suffix === undefined ? Number(first) : Math.max(0, sizeBytes - Number(suffix))
  const end = last === undefined || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)
  if (last !== undefined && last !== '' && Number(last) < Number(first)) return null
  if (start >= sizeBytes)
    throw new Fault(416, { reason: `The content has ${sizeBytes} bytes` }, { 'Content-Range': `bytes */${sizeBytes}` })
  return { start, end }
}
