// Server-sent events: reading those of a provider, and writing ours.
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { UpstreamFailure } from './upstream.ts'

/** A single event beyond it is refused: it would have to be held whole. */
const maxEventLength = 16 * 1024 * 1024

/** Data of each event, as soon as it is complete. */
export async function* readEvents(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  const ready: string[] = []
  let waiting = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      waiting = 0
      ready.push(data)
    },
  })
  for await (const piece of pieces) {
    waiting += piece.length
    parser.feed(decoder.write(piece))
    if (waiting > maxEventLength) throw new UpstreamFailure('large', 'An event of the provider is too large')
    yield* ready.splice(0)
  }
  // Some servers leave out the empty line after the last event.
  parser.feed('\n\n')
  yield* ready.splice(0)
}

/** Text of one event. */
export const eventText = (data: string): Buffer =>
  Buffer.from(data.includes('\n') ? `data: ${data.replaceAll('\n', '\ndata: ')}\n\n` : `data: ${data}\n\n`)

export const doneEvent = eventText('[DONE]')

export const streamHeaders = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' }
