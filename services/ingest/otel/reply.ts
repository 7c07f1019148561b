// Answers of OTLP: success, partial success and google.rpc.Status, in the encoding of the request.
import type { Reply } from '../../core/http/route.ts'
import { bytesField, integerField, textField } from '../../core/protobuf.ts'
import type { FaultKind, Faults } from './faults.ts'

const maxReported = 20
const invalidArgument = 3

/** Name of the count in the answer as JSON. */
export type RejectedCount = 'rejectedSpans' | 'rejectedLogRecords'

/** Refused items: their number, and sentences about the first of them; and items that were taken with faults. */
export type Rejections = {
  count: number
  sentences: string[]
  faulty: { count: number; sentences: string[]; kinds: Map<FaultKind, number> }
}

export const noRejections = (): Rejections => ({
  count: 0,
  sentences: [],
  faulty: { count: 0, sentences: [], kinds: new Map() },
})

export function reject(rejections: Rejections, sentence: string): void {
  rejections.count++
  if (rejections.sentences.length < maxReported) rejections.sentences.push(sentence)
}

/** Tells of something that was taken and is not as it was sent. */
export function tell({ faulty }: Rejections, title: () => string, faults: Faults): void {
  faulty.count++
  for (const kind of faults.keys()) faulty.kinds.set(kind, (faulty.kinds.get(kind) ?? 0) + 1)
  if (faulty.sentences.length < maxReported) faulty.sentences.push(`${title()}: ${[...faults.values()].join(', ')}`)
}

/** Those that were refused go first. */
function messageOf({ count, sentences, faulty }: Rejections): string {
  const all = [...sentences, ...faulty.sentences.map((one) => `taken, ${one}`)].slice(0, maxReported)
  return all.join('; ') + (count + faulty.count > all.length ? '; ...' : '')
}

export const protobufType = 'application/x-protobuf'

export function successReply(
  isJson: boolean,
  rejected: RejectedCount,
  rejections: Rejections,
  headers: Record<string, string>,
): Reply {
  const isWhole = rejections.count === 0 && rejections.faulty.count === 0
  if (isJson) {
    if (isWhole) return { json: {}, headers }
    const partialSuccess = { [rejected]: String(rejections.count), errorMessage: messageOf(rejections) }
    return { json: { partialSuccess }, headers }
  }
  const bytes = isWhole
    ? Buffer.alloc(0)
    : bytesField(1, Buffer.concat([integerField(1, rejections.count), textField(2, messageOf(rejections))]))
  return { bytes, contentType: protobufType, headers }
}

/** 400: the body is no such request; the exporter must not send it again. */
export function undecodableReply(isJson: boolean, message: string): Reply {
  if (isJson) return { status: 400, json: { code: invalidArgument, message } }
  const bytes = Buffer.concat([integerField(1, invalidArgument), textField(2, message)])
  return { status: 400, bytes, contentType: protobufType }
}
