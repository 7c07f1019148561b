// Chooses the requests that run in a thread: those whose body alone keeps the event loop too long.
import { seemsFull } from '../memory/heap-room.ts'
import type { LongRequest } from '../threads/requests.ts'
import type { Requested } from './handler.ts'
import type { KeyHolder } from './holder.ts'
import type { Route } from './route.ts'

/**
 * Longest bodies whose worst forms are handled within the 50 ms that nothing may hold the event loop for. Bodies that
 * are read from their bytes never become values; what of them is long all the same the handler finds out.
 */
const longBytes = { values: 96 * 1024, bytes: 768 * 1024 }

/** Bytes of a provider's answer that are read where they came. */
export const maxBytesHere = 1024 * 1024

export const isLong = ({ body, isLong: isAlways }: Route, bytes: Buffer): boolean =>
  isAlways === true ||
  bytes.length > (body.type === 'json' && body.check !== 'bytes' ? longBytes.values : longBytes.bytes) ||
  // Other threads have heaps of their own, and collecting this one's garbage would keep the event loop.
  (body.type === 'json' && seemsFull(bytes.length))

export const longRequest = (
  route: Route,
  { requestId, headers, params, url, clientIp }: Requested,
  contentType: string,
  { entry, keyId }: Pick<KeyHolder, 'entry' | 'keyId'>,
  maxJsonDepth: number,
): Omit<LongRequest, 'number' | 'answerKey'> => ({
  route: route.name,
  requestId,
  params,
  url,
  contentType,
  entry,
  keyId,
  maxJsonDepth,
  heapPerByte: route.heapPerByte,
  headers: { ...headers },
  clientIp: clientIp(),
})
