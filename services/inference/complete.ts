// One inference request from its body to the provider's answer: prompt, template, routing, the call and its trace.
import { Fault } from '../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { maxBytesHere } from '../core/http/long-requests.ts'
import { parseLossless } from '../core/json/lossless.ts'
import { createAggregate } from './aggregate.ts'
import { exceptionOf, failureFault, notAStream, refusalOf } from './answers.ts'
import { type ChunkFacts, chunkFacts, createKeptChunks, type ErrorObject, maxTracedLength } from './chunks.ts'
import { type Answered, keepAnswer, keepChunks, longFacts, malformedChunk, seenIn } from './keep-answer.ts'
import type { CallHead, Recorder } from './record.ts'
import { createEventReader, done, eventText, readEvents } from './stream.ts'
import type { Target } from './target.ts'
import { type Upstream, type UpstreamAnswer, UpstreamFailure } from './upstream.ts'

/** A request that is ready to go out. */
export type Outgoing = {
  target: Target
  path: string
  body: string
  headers: Record<string, string>
  timeoutMs: number
  /** Model as the client named it. */
  model: string | undefined
  isStream: boolean
  /** The client asked for the chunk that holds nothing but usage. */
  wantsUsage: boolean
  /** Chunks are those of chat completions; other streams go on as they are. */
  isChat: boolean
  /** Members that a whole completion must have; undefined = it is forwarded unchanged. */
  missing: Answered['missing']
  around: Answered['around']
  /** Null = not traced. */
  head: CallHead | null
  secrets: readonly string[]
  as: InvokeCaller
  /** Called once, when everything is over. */
  onEnd(): void
}

/** A chunk as the provider wrote it, or the error that ended the stream. */
export type StreamItem = { chunk: string } | { error: ErrorObject; status: number }

export type Outcome =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'chunks'; items: AsyncGenerator<StreamItem> }
  | { kind: 'raw'; pieces: AsyncGenerator<Buffer>; contentType: string }

export type CompleteDeps = { upstream: Upstream; recorder: Recorder; invoke: Pick<Invoke, 'answer' | 'json'> }

const maxAnswerBytes = 64 * 1024 * 1024

const goneText = 'client disconnected'

const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** State of an answer: facts for its call, or chunks that are still to be combined. */
type Seen = ReturnType<typeof seenIn> | { chunks(): Promise<Buffer> }

const nothingSeen: Seen = { output: 'null', usage: undefined }

type Ending = {
  /** Tells how far the answer has come. @param isOver the client has all of it, though the stream is still open */
  watch(seen: () => Seen, isOver?: () => boolean): void
  /** Writes the call and frees what the request held. Only the first time counts. */
  end(exception?: string): Promise<void>
  /** The answer is whole: the work records it, whatever the client does. When it fails the end is still to come. */
  endBy<T>(work: () => Promise<T>): Promise<T>
}

/** The end of a request, whichever comes first: that of the answer, a failure, or the client's. */
function createEnding(deps: CompleteDeps, out: Outgoing, answered: Answered): Ending {
  const { signal } = out.as
  let seen: () => Seen = () => nothingSeen
  let ended: Promise<void> | undefined
  let isOver = () => false
  // Whoever writes the answer may never come back for its next piece.
  const onGone = () => void end(isOver() ? undefined : goneText)
  async function write(exception: string | undefined): Promise<void> {
    signal.removeEventListener('abort', onGone)
    out.onEnd()
    if (answered.head === null) return
    const about = { startedMs: answered.startedMs, endedMs: Date.now(), exception, secrets: out.secrets }
    const found = seen()
    if ('chunks' in found) await keepChunks(deps, answered, about, await found.chunks(), out.as)
    else await deps.recorder.record(answered.head, { ...about, ...found }, out.as)
  }
  function end(exception?: string): Promise<void> {
    ended ??= write(exception)
    return ended
  }
  signal.addEventListener('abort', onGone, { once: true })
  return {
    watch(next, over = isOver) {
      seen = next
      isOver = over
    },
    end,
    async endBy(work) {
      signal.removeEventListener('abort', onGone)
      const made = await work()
      ended ??= Promise.resolve()
      out.onEnd()
      return made
    },
  }
}

function chunkOf(data: string): unknown {
  try {
    return parseLossless(data)
  } catch {
    throw malformedChunk()
  }
}

/** Watches the chunks of a stream, and the state of its call. */
function createWatch(deps: CompleteDeps, out: Outgoing, ending: Ending) {
  const aggregate = createAggregate(maxTracedLength)
  const kept = createKeptChunks()
  const areFew = () => kept.bytes() <= maxBytesHere
  ending.watch(
    () => (areFew() ? seenIn(aggregate, out.target.model, out.model) : { chunks: kept.all }),
    // Behind the end of chat completions comes their usage.
    () => isFinished && !out.isChat,
  )
  let isFinished = false
  let isKnown = false
  let failed: ChunkFacts['failed']
  return {
    /** @throws UpstreamFailure for what is no JSON */
    async take(data: string): Promise<ChunkFacts> {
      let facts: ChunkFacts
      if (data.length > maxBytesHere) {
        facts = await longFacts(deps, data, out.secrets, out.as)
        kept.add(data, facts)
      } else {
        const chunk = chunkOf(data)
        facts = chunkFacts(chunk, out.secrets)
        kept.add(data, facts)
        if (areFew()) aggregate.add(chunk, data.length)
      }
      isFinished ||= facts.isFinished
      isKnown ||= facts.isAnswer
      failed ??= facts.failed
      return facts
    },
    isFinished: () => isFinished,
    /** Chunks of a known form came. */
    isKnown: () => isKnown,
    /** The first failure that was told. */
    failed: () => failed,
  }
}

const endedEarly = () => new UpstreamFailure('broken', 'The provider ended the stream early')

async function* chunkItems(
  deps: CompleteDeps,
  answer: UpstreamAnswer,
  out: Outgoing,
  ending: Ending,
): AsyncGenerator<StreamItem> {
  const watch = createWatch(deps, out, ending)
  let exception: string | undefined = goneText
  let failed: ChunkFacts['failed'] | { error: ErrorObject; status: number }
  try {
    let isDone = false
    for await (const data of readEvents(answer.pieces())) {
      isDone = data === done
      if (isDone) break
      const facts = await watch.take(data)
      // The other choices of a stream come to their ends, and its usage comes behind them.
      if (facts.failed?.isChoice === false) break
      if (out.wantsUsage || !facts.isUsageOnly) yield { chunk: data }
    }
    failed = watch.failed()
    if (!isDone && failed === undefined && !watch.isFinished()) throw endedEarly()
    exception = undefined
  } catch (error) {
    const fault = failureFault(error)
    if (!(fault instanceof Fault)) throw error
    failed = { status: fault.status, error: fault.body.error as ErrorObject }
  } finally {
    answer.drop()
    await ending.end(failed?.error.message ?? exception)
  }
  if (failed !== undefined) yield { error: failed.error, status: failed.status }
}

/** A stream of another operation, byte for byte; what its events say becomes the call. */
async function* rawChunks(
  deps: CompleteDeps,
  answer: UpstreamAnswer,
  out: Outgoing,
  ending: Ending,
): AsyncGenerator<Buffer> {
  const watch = createWatch(deps, out, ending)
  const reader = createEventReader()
  let isRead = out.head !== null
  let isDone = false
  /** Unreadable text is no chunk: the client may understand it. */
  async function read(texts: Iterable<string>): Promise<void> {
    try {
      for (const data of texts) {
        isDone ||= data === done
        if (!isDone) await watch.take(data)
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      isRead = false
    }
  }
  let exception: string | undefined = goneText
  try {
    for await (const piece of answer.pieces()) {
      if (isRead) await read(reader.add(piece))
      yield piece
    }
    if (isRead) await read(reader.end())
    exception = undefined
  } catch (error) {
    const fault = failureFault(error)
    if (!(fault instanceof Fault)) throw error
    exception = fault.message
    yield eventText(JSON.stringify(fault.body))
  } finally {
    answer.drop()
    if (exception === goneText && watch.isFinished()) exception = undefined
    else if (exception === undefined && isRead && watch.isKnown() && !isDone && !watch.isFinished())
      exception = endedEarly().message
    await ending.end(watch.failed()?.error.message ?? exception)
  }
}

async function outcomeOf(
  deps: CompleteDeps,
  answer: UpstreamAnswer,
  out: Outgoing,
  { ending, answered }: { ending: Ending; answered: Answered },
): Promise<Outcome> {
  const { provider } = out.target
  if (!isSuccess(answer.status)) throw await refusalOf(provider, answer, out.secrets)
  const type = (answer.header('content-type') ?? '').toLowerCase()
  const isEvents = type.startsWith('text/event-stream')
  if (out.isStream && isEvents) {
    if (out.isChat) return { kind: 'chunks', items: chunkItems(deps, answer, out, ending) }
    return { kind: 'raw', pieces: rawChunks(deps, answer, out, ending), contentType: 'text/event-stream' }
  }
  if (out.isStream && out.isChat) throw await notAStream(answer, out.secrets)
  const bytes = await answer.bytes(maxAnswerBytes)
  return { kind: 'whole', bytes: await ending.endBy(() => keepAnswer(deps, answered, bytes, out.as)) }
}

/**
 * Asks the provider. The call is recorded when the answer is over, in streams before their last item.
 * @throws Fault for refusals and failures before the first byte of an answer
 */
export async function complete(deps: CompleteDeps, out: Outgoing): Promise<Outcome> {
  const { target, as, head, model, missing, around } = out
  const answered: Answered = {
    head,
    startedMs: Date.now(),
    model,
    providerModel: target.model,
    isChat: out.isChat,
    secrets: out.secrets,
    missing,
    around,
  }
  const ending = createEnding(deps, out, answered)
  try {
    const answer = await deps.upstream.send({
      method: 'POST',
      url: target.url(out.path),
      body: out.body,
      isTrusted: target.isTrusted,
      headers: {
        accept: out.isStream ? 'text/event-stream' : 'application/json',
        'user-agent': 'callhouse',
        ...target.headers,
        ...out.headers,
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      },
      timeoutMs: out.timeoutMs,
      signal: as.signal,
    })
    return await outcomeOf(deps, answer, out, { ending, answered })
  } catch (error) {
    const fault = failureFault(error)
    await ending.end(exceptionOf(error))
    throw fault
  }
}
