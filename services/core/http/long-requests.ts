// Chooses the requests that run in a thread: those whose body alone keeps the event loop too long.
import type { IncomingHttpHeaders } from 'node:http'
import type { LongAnswer } from '../errors.ts'
import { seemsFull } from '../memory/heap-room.ts'
import type { Account } from '../process/running-handler.ts'
import type { Requested } from './handler.ts'
import type { KeyHolder } from './holder.ts'
import type { Reply, Route } from './route.ts'

/** All of a request but its body, which travels beside it. */
export type LongRequest = {
  number: number
  /** Key of the answer of the store that comes along. */
  answerKey: string | undefined
  route: string
  /** Heap that its values take per byte; absent: as much as any may take. */
  heapPerByte: number | undefined
  /** Most nested containers of its body. */
  maxJsonDepth: number
  requestId: string
  headers: IncomingHttpHeaders
  params: Record<string, string>
  url: string
  clientIp: string
  contentType: string
  /** The key's; none = a caller without a key. */
  entry: KeyHolder['entry']
  keyId?: string | undefined
}

/** Threads of the process that run long requests. */
export type RequestThreads = {
  /**
   * Runs a request; keys take turns. Its bytes are moved. Settles when the thread is done with the request, also after an
   * abort.
   * @param account what the request is charged for
   */
  run(
    request: NewRequest,
    bytes: RequestBytes,
    key: object,
    signal: AbortSignal,
    account?: Account | undefined,
  ): Promise<Reply>
  counts(): { threads: number; running: number; waiting: number }
  /** Ends the threads; what runs in them is refused. */
  close(): Promise<void>
}

type NewRequest = Omit<LongRequest, 'number' | 'answerKey'>

/** The body, and an answer of the store that the handler will ask for. */
type RequestBytes = { body: Buffer; answer?: LongAnswer | undefined }

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
): NewRequest => ({
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
