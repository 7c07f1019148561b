// Checks annotation values against schemas that clients wrote, so that none of them holds up the server.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import { fault, retryLater } from '../../core/http/errors.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** Longest time of one check. */
const limitMs = 250
/** Longest time that the checks of a request may take beyond the usual time. */
const requestLimitMs = 1_000
const usualMs = 10
/** Time after which checks in this thread let others have their turn. */
const turnMs = 20
/** Checks that wait for the thread; more are sent again later. */
const maxWaiting = 64
/** The thread ends when nothing was checked for so long. */
const idleMs = 30_000
const threadMemoryMb = 256

/** Keywords whose work does not follow from the sizes of schema and value: backtracking, pairs, repeated refs. */
const unbounded = /"(?:pattern|patternProperties|uniqueItems|format|\$ref|\$dynamicRef|\$recursiveRef)":/
/** Characters of the schema times those of the value, up to which the work of the other keywords is short. */
const maxWork = 100_000

/** Outcome of a check; a thread that did not finish is of no more use. */
type Outcome = { verdict: Verdict; isFinished: boolean }

const unfinished = (why: string): Outcome => ({
  verdict: `The annotation cannot be checked against its schema: that takes ${why}`,
  isFinished: false,
})

type Thread = { worker: Worker; ready: Promise<unknown> }

function startThread(): Thread {
  const worker = new Worker(new URL('./verdict-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
  })
  worker.unref()
  const ready = once(worker, 'message')
  ready.catch(() => undefined)
  return { worker, ready }
}

async function outcomeOf(worker: Worker, texts: { schema: string; value: string }): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const onMessage = ({ verdict }: { verdict: Verdict }) => resolve({ verdict, isFinished: true })
  const onError = () => resolve(unfinished('too much memory'))
  worker.once('message', onMessage).once('error', onError)
  worker.postMessage(texts)
  // An answer that is there already goes first, however late this thread comes to it.
  const timer = setTimeout(() => setImmediate(() => resolve(unfinished(`more than ${limitMs} ms`))), limitMs)
  const outcome = await promise
  clearTimeout(timer)
  worker.off('message', onMessage).off('error', onError)
  return outcome
}

/** One thread for all, started by the first check, and started anew after one that did not finish. */
function createThread(): (schema: string, value: string) => Promise<{ verdict: Verdict; ms: number }> {
  let thread: Thread | null = null
  let waiting = 0
  const queue = createSerialQueue()
  let idle: NodeJS.Timeout | undefined

  const end = (): void => {
    void thread?.worker.terminate()
    thread = null
  }

  async function run(schema: string, value: string) {
    clearTimeout(idle)
    thread ??= startThread()
    try {
      await thread.ready
    } catch (error) {
      end()
      throw error
    }
    const begunMs = performance.now()
    const { verdict, isFinished } = await outcomeOf(thread.worker, { schema, value })
    if (isFinished) idle = setTimeout(end, idleMs).unref()
    else end()
    return { verdict, ms: performance.now() - begunMs }
  }

  return async (schema, value) => {
    if (waiting >= maxWaiting) throw retryLater(503, 'Too many annotations are being checked')
    waiting++
    try {
      return await queue.run(() => run(schema, value))
    } finally {
      waiting--
    }
  }
}

/** Checks the values of one request. */
export type ValueCheck = (schema: unknown, value: unknown) => Promise<void>

/** The check throws Fault 400 when the value does not fit, or the schema cannot be applied or takes too long. */
export function createSchemaCheck(): () => ValueCheck {
  const inThread = createThread()
  let ownMs = 0
  async function inTurns(schema: unknown, value: unknown) {
    if (ownMs > turnMs) {
      ownMs = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
    const begunMs = performance.now()
    const verdict = verdictOf(schema, value)
    ownMs += performance.now() - begunMs
    return { verdict, ms: 0 }
  }
  return () => {
    let unusualMs = 0
    return async (schema, value) => {
      const [schemaText, valueText] = [JSON.stringify(schema), JSON.stringify(value)]
      const isShort = schemaText.length * valueText.length <= maxWork && !unbounded.test(schemaText)
      const { verdict, ms } = await (isShort ? inTurns(schema, value) : inThread(schemaText, valueText))
      if (verdict !== null) throw fault(400, verdict)
      unusualMs += Math.max(0, ms - usualMs)
      if (unusualMs > requestLimitMs)
        throw fault(400, `The annotations of the request take more than ${requestLimitMs} ms to check`)
    }
  }
}
