// Server-sent events: reading those of a provider, and writing ours.
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { UpstreamFailure } from './upstream.ts'

/** A single event beyond it is refused: it would have to be held whole. */
const maxEventLength = 16 * 1024 * 1024

/** Reads the data of events from pieces of a stream. */
export function createEventReader() {
  const decoder = new StringDecoder('utf8')
  const ready: string[] = []
  let waiting = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      waiting = 0
      // Events without data, and blanks around it, say nothing.
      const text = data.trim()
      if (text !== '') ready.push(text)
    },
  })
  return {
    /** Data of the events that the piece completes. @throws UpstreamFailure */
    *add(piece: Buffer): Generator<string> {
      waiting += piece.length
      parser.feed(decoder.write(piece))
      if (waiting > maxEventLength) throw new UpstreamFailure('large', 'An event of the provider is too large')
      yield* ready.splice(0)
    },
    /** Some servers leave out the empty line after the last event. */
    *end(): Generator<string> {
      parser.feed('\n\n')
      yield* ready.splice(0)
    },
  }
}

/** Data of each event, as soon as it is complete. */
export async function* readEvents(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const reader = createEventReader()
  for await (const piece of pieces) yield* reader.add(piece)
  yield* reader.end()
}

/** Text of one event. */
export const eventText = (data: string): Buffer =>
  Buffer.from(data.includes('\n') ? `data: ${data.replaceAll('\n', '\ndata: ')}\n\n` : `data: ${data}\n\n`)

/** Data of the event that ends a stream of chunks. */
export const done = '[DONE]'
export const doneEvent = eventText(done)

export const streamHeaders = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' }
