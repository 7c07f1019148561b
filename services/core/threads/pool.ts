// Threads that run the handlers of long requests, so that the event loop of this one is free for all others.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { createFairQueue, slotIn } from '../concurrency/fair-queue.ts'
import { tooLarge, unavailable } from '../errors.ts'
import type { LongRequest, RequestThreads } from '../http/long-requests.ts'
import type { Reply } from '../http/route.ts'
import type { Account } from '../process/running-handler.ts'
import { type Channel, createChannel } from './channel.ts'
import { createChunkSources } from './chunks.ts'
import { type Ports, servePorts } from './ports.ts'
import { threadReply } from './requests.ts'

export type ThreadsDeps = {
  /** The program of a thread. */
  program: URL
  data: unknown
  ports: Ports
  /** Memory of a thread for values. */
  heapMb: number
  idleMs?: number
}

/** While one key's long request runs, another one's finds a thread: even on one core they share it fairly. */
const maxThreads = Math.max(2, Math.min(4, availableParallelism() - 1))
/** A thread that had nothing to do for so long ends: it holds some 60 MB. */
const usualIdleMs = 120_000
type Thread = {
  channel: Channel
  worker: Worker
  /** Settles once its modules have run, or it has ended. */
  begun: Promise<void>
  /** Abort signals of the requests that run in it, by number. */
  signals: Map<number, AbortSignal>
  accounts: Map<number, Account>
  /** Set until the handler that began last lets go of the thread. */
  leave: (() => void) | undefined
  idle: NodeJS.Timeout | undefined
  /** Nothing is given to it any more; what it has is refused. */
  end(reason: Error): void
}

/** An answer that came too late: nobody reads its pieces. */
async function leaveUnread(reply: Reply): Promise<void> {
  const pieces = 'lines' in reply ? reply.lines : 'bytes' in reply ? reply.bytes : undefined
  if (pieces !== undefined && !Buffer.isBuffer(pieces)) await pieces[Symbol.asyncIterator]().return?.()
}

/** V8 aborts the process when a thread is terminated in the midst of modules that wait for something. */
async function terminate({ begun, worker }: Thread): Promise<void> {
  await begun
  await worker.terminate()
}

const closing = () => unavailable('Server is shutting down')

export function createRequestThreads(deps: ThreadsDeps): RequestThreads {
  const { program, data, ports, heapMb, idleMs = usualIdleMs } = deps
  const threads = new Set<Thread>()
  const queue = createFairQueue<object>({ slots: maxThreads })
  const closed = new AbortController()
  let lastNumber = 0

  function start(): Thread {
    const worker = new Worker(program, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const pieces = createChunkSources()
    const signals = new Map<number, AbortSignal>()
    const accounts = new Map<number, Account>()
    const { answers, release } = servePorts(ports, pieces, {
      signalOf: (request) => signals.get(request),
      accountOf: (request) => accounts.get(request),
    })
    const letGo = (): void => {
      thread.leave?.()
      thread.leave = undefined
    }
    const free = async () => {
      letGo()
      return {}
    }
    const modules = Promise.withResolvers<void>()
    const begun = async () => {
      modules.resolve()
      return {}
    }
    worker.once('exit', () => modules.resolve())
    const channel = createChannel(worker, { ...answers, ...pieces.answers, free, begun })
    const end = (reason: Error): void => {
      if (!threads.delete(thread)) return
      clearTimeout(thread.idle)
      channel.end(reason)
      pieces.end()
      release()
      void terminate(thread)
      letGo()
    }
    const thread: Thread = {
      channel,
      worker,
      begun: modules.promise,
      signals,
      accounts,
      leave: undefined,
      idle: undefined,
      end,
    }
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return end(error)
      // With several requests it is not known which one took the memory.
      end(signals.size === 1 ? tooLarge() : unavailable('Concurrent long requests need too much memory'))
    })
    worker.on('exit', () => end(closed.signal.aborted ? closing() : new Error('a request thread ended')))
    // Its waiters keep the process alive by themselves: a connection, or a shutdown.
    worker.unref()
    threads.add(thread)
    return thread
  }

  /** The one with the least to do among those that are free; there is one, or may be one more. */
  function freeThread(): Thread {
    let found: Thread | undefined
    for (const thread of threads)
      if (thread.leave === undefined && (found === undefined || thread.signals.size < found.signals.size))
        found = thread
    return found ?? start()
  }

  return {
    async run(request, { body, answer }, key, signal, account) {
      const leave = await slotIn(queue, key, { signal: AbortSignal.any([signal, closed.signal]) })
      const thread = freeThread()
      const number = ++lastNumber
      thread.leave = leave
      thread.signals.set(number, signal)
      if (account !== undefined) thread.accounts.set(number, account)
      clearTimeout(thread.idle)
      const ended = (): void => {
        thread.signals.delete(number)
        thread.accounts.delete(number)
        if (thread.signals.size === 0 && threads.has(thread))
          thread.idle = setTimeout(() => thread.end(new Error('idle')), idleMs).unref()
      }
      try {
        const value: LongRequest = { ...request, number, answerKey: answer?.key }
        const asked = { value, buffers: answer === undefined ? [body] : [body, answer.bytes] }
        const reply = threadReply(await thread.channel.ask('serve', asked, signal), thread.channel, ended)
        if (signal.aborted) await leaveUnread(reply)
        return reply
      } catch (error) {
        ended()
        throw error
      }
    },
    counts() {
      let running = 0
      for (const { signals } of threads) running += signals.size
      return { threads: threads.size, running, waiting: queue.waiting() }
    },
    async close() {
      closed.abort(closing())
      await Promise.all([...threads].map(terminate))
    },
  }
}
