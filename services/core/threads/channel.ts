// Questions and answers between two threads: each side answers what the other one asks, by name.
import { type Parcel, packed, receivedError, type SentError, sentError, unpacked } from './crossing.ts'

/** A port of the other thread: a worker, or a worker's own side. */
export type Port = {
  postMessage(message: unknown, moved?: ArrayBuffer[]): void
  on(event: 'message', listener: (message: Message) => void): unknown
}

export type Received = { value: unknown; buffers: Buffer[] }

/** Answers a question; the signal aborts when nobody waits for the answer any more. */
export type Answer = (asked: Received, signal: AbortSignal) => Promise<Parcel>

type Message =
  | { kind: 'ask'; id: number; name: string; value: unknown; views: Uint8Array[] }
  | { kind: 'answer'; id: number; value: unknown; views: Uint8Array[] }
  | { kind: 'failure'; id: number; error: SentError }
  | { kind: 'abort'; id: number; error: SentError }

export type Channel = {
  /**
   * Asks the other side, and settles as it does. It is told when the signal aborts, and answers then as it likes.
   * Buffers are moved: the caller must not use them any more.
   */
  ask(name: string, parcel?: Parcel, signal?: AbortSignal): Promise<Received>
  /** Nothing comes any more: rejects what was asked, aborts what is being answered. */
  end(reason: Error): void
}

type Waiting = { resolve(answer: Received): void; reject(error: Error): void }

export function createChannel(port: Port, answers: Readonly<Record<string, Answer>>): Channel {
  const waiting = new Map<number, Waiting>()
  const answering = new Map<number, AbortController>()
  let lastId = 0
  let ended: Error | undefined

  const post = (message: Record<string, unknown>, { value, buffers = [] }: Parcel): void => {
    const { views, moved } = packed(buffers)
    port.postMessage({ ...message, value, views }, moved)
  }

  async function answer({ id, name, value, views }: Message & { kind: 'ask' }): Promise<void> {
    const controller = new AbortController()
    answering.set(id, controller)
    try {
      const by = answers[name]
      if (by === undefined) throw new Error(`nothing answers ${name}`)
      const parcel = await by({ value, buffers: unpacked(views) }, controller.signal)
      if (ended === undefined) post({ kind: 'answer', id }, parcel)
    } catch (error) {
      if (ended === undefined) port.postMessage({ kind: 'failure', id, error: sentError(error) })
    } finally {
      answering.delete(id)
    }
  }

  port.on('message', (message) => {
    switch (message.kind) {
      case 'ask':
        void answer(message)
        return
      case 'answer':
        waiting.get(message.id)?.resolve({ value: message.value, buffers: unpacked(message.views) })
        return
      case 'failure':
        waiting.get(message.id)?.reject(receivedError(message.error))
        return
      case 'abort':
        answering.get(message.id)?.abort(receivedError(message.error))
        return
      default:
        message satisfies never
    }
  })

  return {
    ask(name, parcel = {}, signal) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        if (signal?.aborted) return reject(signal.reason)
        const id = ++lastId
        const onAbort = () => {
          if (ended === undefined) port.postMessage({ kind: 'abort', id, error: sentError(signal?.reason) })
        }
        const settle = () => {
          waiting.delete(id)
          signal?.removeEventListener('abort', onAbort)
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        waiting.set(id, {
          resolve(received) {
            settle()
            resolve(received)
          },
          reject(error) {
            settle()
            reject(error)
          },
        })
        try {
          post({ kind: 'ask', id, name }, parcel)
        } catch (error) {
          settle()
          reject(error)
        }
      })
    },
    end(reason) {
      ended = reason
      for (const { reject } of [...waiting.values()]) reject(reason)
      for (const controller of [...answering.values()]) controller.abort(reason)
    },
  }
}
