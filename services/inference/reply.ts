// A provider's outcome as the answer of a route: JSON as it came, or events as they come.
import { Fault } from '../core/http/errors.ts'
import type { Reply } from '../core/http/route.ts'
import { answeredStatus } from './answers.ts'
import type { StreamItem } from './complete.ts'
import type { Ran } from './run.ts'
import { doneEvent, eventText, streamHeaders } from './stream.ts'

async function* events(first: IteratorResult<StreamItem>, rest: AsyncGenerator<StreamItem>): AsyncGenerator<Buffer> {
  try {
    for (let item = first; item.done !== true; item = await rest.next()) {
      const { value } = item
      yield eventText('chunk' in value ? value.chunk : JSON.stringify({ error: value.error }))
    }
    yield doneEvent
  } finally {
    await rest.return(undefined)
  }
}

async function* begunWith(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    for (let item = first; item.done !== true; item = await rest.next()) yield item.value
  } finally {
    await rest.return(undefined)
  }
}

/** @throws Fault when a stream fails before its first chunk */
export async function inferenceReply({ outcome, callId }: Ran): Promise<Reply> {
  const about: Record<string, string> = callId === undefined ? {} : { 'X-Call-Id': callId }
  switch (outcome.kind) {
    case 'whole':
      return { jsonText: outcome.bytes, headers: about }
    case 'raw': {
      const first = await outcome.pieces.next()
      const headers = { ...about, ...streamHeaders }
      return { bytes: begunWith(first, outcome.pieces), contentType: outcome.contentType, headers }
    }
    case 'chunks': {
      const first = await outcome.items.next()
      if (first.done !== true && 'error' in first.value) {
        const { error, status } = first.value
        throw new Fault(answeredStatus(status), { error, reason: error.message }, about)
      }
      const headers = { ...about, ...streamHeaders }
      return { bytes: events(first, outcome.items), contentType: 'text/event-stream', headers }
    }
    default:
      return outcome satisfies never
  }
}
