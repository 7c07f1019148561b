// Answers of OTLP: success, partial success and google.rpc.Status, in the encoding of the request.
import type { Reply } from '../../core/http/route.ts'
import { bytesField, integerField, textField } from '../../core/protobuf.ts'

const maxReported = 20
const invalidArgument = 3

/** Name of the count in the answer as JSON. */
export type RejectedCount = 'rejectedSpans' | 'rejectedLogRecords'

/** What was refused: how many items, and sentences about the first of them. */
export type Rejections = { count: number; sentences: string[] }

export function reject(rejections: Rejections, sentence: string): void {
  rejections.count++
  if (rejections.sentences.length < maxReported) rejections.sentences.push(sentence)
}

const messageOf = ({ count, sentences }: Rejections): string =>
  sentences.join('; ') + (count > sentences.length ? '; ...' : '')

export const protobufType = 'application/x-protobuf'

export function successReply(
  isJson: boolean,
  rejected: RejectedCount,
  rejections: Rejections,
  headers: Record<string, string>,
): Reply {
  if (isJson) {
    if (rejections.count === 0) return { json: {}, headers }
    const partialSuccess = { [rejected]: String(rejections.count), errorMessage: messageOf(rejections) }
    return { json: { partialSuccess }, headers }
  }
  const bytes =
    rejections.count === 0
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
