// A request thread's side: takes requests, each when its values find room in the heap, and answers them.
import { setTimeout } from 'node:timers/promises'
import type { LongRequest } from '../http/long-requests.ts'
import type { Reply } from '../http/route.ts'
import { hasRoom, heapPerJsonByte, noRoom } from '../memory/heap-room.ts'
import { createChannel, type Port } from './channel.ts'
import { createChunkSources } from './chunks.ts'
import type { Parcel } from './crossing.ts'
import { type RemotePorts, type RunningRequest, remotePorts } from './remote-ports.ts'
import { parcelOf } from './requests.ts'

type Handle = (request: LongRequest, body: Buffer, signal: AbortSignal) => Promise<Reply>

/** Longest wait of a request for those in its thread to give their memory back. */
const roomMs = 10_000
const recheckMs = 250

/** @returns the ports of the thread that holds the engines */
export function serveRequests(port: Port, handle: Handle): RemotePorts {
  const pieces = createChunkSources()
  const requests = new WeakMap<AbortSignal, RunningRequest>()
  let running = 0

  async function waitForRoom(bytes: number, signal: AbortSignal): Promise<void> {
    for (const until = performance.now() + roomMs; !hasRoom(bytes); ) {
      // One that is alone waits for nobody.
      if (running === 0 || performance.now() > until) throw noRoom()
      await setTimeout(recheckMs, undefined, { signal })
    }
  }

  async function serve(
    request: LongRequest,
    body: Buffer,
    answer: Buffer | undefined,
    signal: AbortSignal,
  ): Promise<Parcel> {
    const { number, answerKey: key, heapPerByte = heapPerJsonByte } = request
    const known = key === undefined || answer === undefined ? {} : { answer: { key, bytes: answer } }
    requests.set(signal, { number, ...known })
    try {
      await waitForRoom(body.length * heapPerByte, signal)
      running++
    } finally {
      // The next request may come as soon as this one lets go of the thread: when it waits, and holds what it holds.
      setImmediate(() => channel.ask('free').catch(() => undefined))
    }
    try {
      return parcelOf(await handle(request, body, signal), pieces)
    } finally {
      running--
    }
  }

  const channel = createChannel(port, {
    ...pieces.answers,
    serve: ({ value, buffers }, signal) => serve(value as LongRequest, buffers[0] as Buffer, buffers[1], signal),
  })
  // Once all modules of the program have run.
  setImmediate(() => channel.ask('begun').catch(() => undefined))
  return remotePorts(channel, (signal) => requests.get(signal))
}
