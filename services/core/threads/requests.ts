// Requests as they go to a thread, and the answers of handlers as they come back.
import type { SharedClock } from '../clock/clock.ts'
import type { Reply } from '../http/route.ts'
import type { RecordSplit } from '../log/log.ts'
import type { Channel, Received } from './channel.ts'
import { type ChunkSources, chunksOf } from './chunks.ts'
import type { Parcel } from './crossing.ts'

/** The data that a thread needs to make the routes. */
export type ThreadData<Config, Role> = { config: Config; role: Role; split: RecordSplit; clock: SharedClock }

type ReplyHead = { status?: number; headers: Record<string, string>; contentType?: string; source?: number } & {
  kind: 'json' | 'bytes' | 'lines'
}

/** Bytes are moved, pieces are asked for one by one; what is still a value becomes JSON here. */
export function parcelOf(reply: Reply, pieces: ChunkSources): Parcel {
  const { headers = {} } = reply
  const status = 'status' in reply && reply.status !== undefined ? { status: reply.status } : {}
  const headOf = (rest: Omit<ReplyHead, 'headers'>): ReplyHead => ({ ...status, headers, ...rest })
  if ('json' in reply)
    return { value: headOf({ kind: 'json' }), buffers: [Buffer.from(JSON.stringify(reply.json) ?? 'null')] }
  if ('jsonText' in reply) return { value: headOf({ kind: 'json' }), buffers: [Buffer.from(reply.jsonText as Buffer)] }
  const { contentType } = reply
  if ('lines' in reply) return { value: headOf({ kind: 'lines', contentType, source: pieces.offer(reply.lines) }) }
  if (Buffer.isBuffer(reply.bytes)) return { value: headOf({ kind: 'bytes', contentType }), buffers: [reply.bytes] }
  return { value: headOf({ kind: 'bytes', contentType, source: pieces.offer(reply.bytes) }) }
}

/** @param onEnd told once when the thread is no longer needed for the answer */
export function threadReply({ value, buffers }: Received, channel: Channel, onEnd: () => void): Reply {
  const { kind, source, contentType = '', ...rest } = value as ReplyHead
  const bytes = source === undefined ? (buffers[0] as Buffer) : chunksOf(channel, source, onEnd)
  if (source === undefined) onEnd()
  if (kind === 'json') return { ...rest, jsonText: buffers[0] as Buffer }
  if (kind === 'bytes') return { ...rest, bytes, contentType }
  return { ...rest, lines: bytes as AsyncIterable<Buffer>, contentType: contentType as 'application/jsonl' }
}
