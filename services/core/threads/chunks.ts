// Bytes that come piece by piece from another thread, each when it is asked for.
import type { Answer, Channel } from './channel.ts'

type ChunkRequest = { source: number }

export type ChunkSources = {
  /** @returns the number by which the other side asks for the pieces */
  offer(pieces: AsyncIterable<string | Buffer>): number
  answers: Record<'next' | 'leave', Answer>
  /** Ends all that is under way. */
  end(): void
}

export function createChunkSources(): ChunkSources {
  const sources = new Map<number, AsyncIterator<string | Buffer>>()
  let lastId = 0
  const leave = (id: number): void => {
    // Not awaited: a source that is stuck ends through its signal.
    sources
      .get(id)
      ?.return?.()
      ?.catch(() => undefined)
    sources.delete(id)
  }
  return {
    offer(pieces) {
      sources.set(++lastId, pieces[Symbol.asyncIterator]())
      return lastId
    },
    answers: {
      async next({ value }) {
        const { source } = value as ChunkRequest
        try {
          const piece = await sources.get(source)?.next()
          if (piece !== undefined && piece.done !== true) return { buffers: [Buffer.from(piece.value as Buffer)] }
          sources.delete(source)
          return {}
        } catch (error) {
          sources.delete(source)
          throw error
        }
      },
      async leave({ value }) {
        leave((value as ChunkRequest).source)
        return {}
      },
    },
    end() {
      for (const id of [...sources.keys()]) leave(id)
    },
  }
}

/**
 * The pieces that the other side offers; it is told when they are left early, even before the first.
 * @param onEnd told once when no more are wanted or there are none
 */
export function chunksOf(channel: Channel, source: number, onEnd: () => void = () => {}): AsyncIterable<Buffer> {
  let isDone = false
  const done = (): void => {
    if (!isDone) onEnd()
    isDone = true
  }
  const iterator: AsyncIterator<Buffer> = {
    async next() {
      if (isDone) return { done: true, value: undefined }
      try {
        const [piece] = (await channel.ask('next', { value: { source } })).buffers
        if (piece !== undefined) return { value: piece }
      } catch (error) {
        done()
        throw error
      }
      done()
      return { done: true, value: undefined }
    },
    async return() {
      if (!isDone) channel.ask('leave', { value: { source } }).catch(() => undefined)
      done()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
