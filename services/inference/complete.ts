// One inference request from its body to the provider's answer: prompt, template, routing, the call and its trace.
import { Fault } from '../core/http/errors.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import { parseLossless, stringifyLossless } from '../core/json/lossless.ts'
import { createAggregate } from './aggregate.ts'
import { exceptionOf, failureFault, refusal, toldBy } from './answers.ts'
import { errorObject, inferenceFault } from './errors.ts'
import type { CallEnd, CallHead, Recorder } from './record.ts'
import { eventText, readEvents } from './stream.ts'
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
  /** Null = not traced. */
  head: CallHead | null
  secrets: readonly string[]
  as: InvokeCaller
  /** Called once, when everything is over. */
  onEnd(): void
}

type ErrorObject = ReturnType<typeof errorObject>

/** A chunk as the provider wrote it, or the error that ended the stream. */
export type StreamItem = { chunk: string } | { error: ErrorObject; status: number }

export type Outcome =
  | { kind: 'whole'; bytes: Buffer; value: unknown }
  | { kind: 'chunks'; items: AsyncGenerator<StreamItem> }
  | { kind: 'raw'; pieces: AsyncGenerator<Buffer>; contentType: string }

export type CompleteDeps = { upstream: Upstream; recorder: Recorder }

const maxAnswerBytes = 64 * 1024 * 1024
const maxRefusalBytes = 64 * 1024
/** Characters of a streamed answer that its trace keeps. */
const maxTracedLength = 16 * 1024 * 1024

const goneText = 'client disconnected'

const isSuccess = (status: number): boolean => status >= 200 && status < 300

type Seen = { output: string; usage: unknown; model: unknown }

const nothingSeen: Seen = { output: 'null', usage: undefined, model: undefined }

const usageOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { usage?: unknown }).usage : undefined

/** What was seen as texts. Values that are nested too deep to be written are left out: recording fails no request. */
function writable(seen: () => Seen, asked: string | undefined): Pick<CallEnd, 'output' | 'usage'> {
  try {
    const { output, usage: counts, model: told } = seen()
    if (typeof counts !== 'object' || counts === null) return { output, usage: undefined }
    const model = asked ?? (typeof told === 'string' ? told : '')
    return { output, usage: { model, text: stringifyLossless(counts) } }
  } catch {
    return { output: 'null', usage: undefined }
  }
}

type Ending = {
  /** Tells how far the answer has come. */
  watch(seen: () => Seen): void
  /** Writes the call and frees what the request held. Only the first time counts. */
  end(exception?: string): Promise<void>
}

/** The end of a request, whichever comes first: that of the answer, a failure, or the client's. */
function createEnding({ recorder }: CompleteDeps, out: Outgoing, startedMs: number): Ending {
  const { signal } = out.as
  let seen: () => Seen = () => nothingSeen
  let ended: Promise<void> | undefined
  // Whoever writes the answer may never come back for its next piece.
  const onGone = () => void end(goneText)
  async function write(exception: string | undefined): Promise<void> {
    signal.removeEventListener('abort', onGone)
    out.onEnd()
    if (out.head === null) return
    const { output, usage } = writable(seen, out.model)
    await recorder.record(out.head, { startedMs, endedMs: Date.now(), output, usage, exception }, out.as)
  }
  function end(exception?: string): Promise<void> {
    ended ??= write(exception)
    return ended
  }
  signal.addEventListener('abort', onGone, { once: true })
  return {
    watch(next) {
      seen = next
    },
    end,
  }
}

/** The error that a provider sent instead of a chunk. */
function errorIn(chunk: unknown, out: Outgoing): StreamItem | undefined {
  const error = typeof chunk === 'object' && chunk !== null ? (chunk as { error?: unknown }).error : undefined
  if (error === undefined || error === null) return undefined
  const told = toldBy({ error }, out.secrets)
  const code = (error as { code?: unknown }).code
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 502
  const details = { code: told?.code ?? null, param: told?.param ?? null }
  const made = errorObject(502, told?.message ?? 'The provider failed', details)
  return { status, error: told?.type === undefined ? made : { ...made, type: told.type } }
}

function chunkOf(data: string): unknown {
  try {
    return parseLossless(data)
  } catch {
    throw new UpstreamFailure('broken', 'The provider sent a malformed chunk')
  }
}

const isUsageOnly = (chunk: unknown): boolean => {
  if (typeof chunk !== 'object' || chunk === null) return false
  const { choices, usage } = chunk as { choices?: unknown; usage?: unknown }
  return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
}

async function* chunkItems(answer: UpstreamAnswer, out: Outgoing, ending: Ending): AsyncGenerator<StreamItem> {
  const aggregate = createAggregate(maxTracedLength)
  ending.watch(() => {
    const result = aggregate.result(out.target.model)
    const output = result === null ? 'null' : stringifyLossless(result)
    return { output, usage: aggregate.usage(), model: result?.model }
  })
  let exception: string | undefined = goneText
  let failed: StreamItem | undefined
  try {
    let isDone = false
    for await (const data of readEvents(answer.pieces())) {
      isDone = data === '[DONE]'
      if (isDone) break
      const chunk = chunkOf(data)
      failed = errorIn(chunk, out)
      if (failed !== undefined) break
      aggregate.add(chunk, data.length)
      if (out.wantsUsage || !isUsageOnly(chunk)) yield { chunk: data }
    }
    if (!isDone && failed === undefined && !aggregate.isFinished())
      throw new UpstreamFailure('broken', 'The provider ended the stream early')
    exception = undefined
  } catch (error) {
    const fault = failureFault(error)
    if (!(fault instanceof Fault)) throw error
    failed = { status: fault.status, error: fault.body.error as ErrorObject }
  } finally {
    answer.drop()
    await ending.end(failed !== undefined && 'error' in failed ? failed.error.message : exception)
  }
  if (failed !== undefined) yield failed
}

/** A stream of which nothing is known, byte for byte. */
async function* rawPieces(answer: UpstreamAnswer, ending: Ending): AsyncGenerator<Buffer> {
  let exception: string | undefined = goneText
  try {
    yield* answer.pieces()
    exception = undefined
  } catch (error) {
    const fault = failureFault(error)
    if (!(fault instanceof Fault)) throw error
    exception = fault.message
    yield eventText(JSON.stringify(fault.body))
  } finally {
    answer.drop()
    await ending.end(exception)
  }
}

async function outcomeOf(answer: UpstreamAnswer, out: Outgoing, ending: Ending): Promise<Outcome> {
  const { provider } = out.target
  if (!isSuccess(answer.status)) {
    const body = await answer.bytes(maxRefusalBytes).catch(() => Buffer.alloc(0))
    throw refusal(provider, answer, body, out.secrets)
  }
  const type = (answer.header('content-type') ?? '').toLowerCase()
  const isEvents = type.startsWith('text/event-stream')
  if (out.isStream && isEvents) {
    if (out.isChat) return { kind: 'chunks', items: chunkItems(answer, out, ending) }
    return { kind: 'raw', pieces: rawPieces(answer, ending), contentType: 'text/event-stream' }
  }
  if (out.isStream && out.isChat) {
    answer.drop()
    throw inferenceFault(502, 'The provider did not answer with a stream', { code: 'provider_failed' })
  }
  const bytes = await answer.bytes(maxAnswerBytes)
  let value: unknown
  try {
    value = parseLossless(bytes.toString())
  } catch {
    throw inferenceFault(502, 'The answer of the provider is not JSON', { code: 'provider_failed' })
  }
  const model = (value as { model?: unknown } | null)?.model
  ending.watch(() => ({ output: bytes.toString(), usage: usageOf(value), model }))
  await ending.end()
  return { kind: 'whole', bytes, value }
}

/**
 * Asks the provider. The call is recorded when the answer is over, in streams before their last item.
 * @throws Fault for refusals and failures before the first byte of an answer
 */
export async function complete(deps: CompleteDeps, out: Outgoing): Promise<Outcome> {
  const { target, as } = out
  const ending = createEnding(deps, out, Date.now())
  try {
    const answer = await deps.upstream.send({
      ...{ method: 'POST', url: target.url(out.path), body: out.body, isTrusted: target.isTrusted },
      headers: {
        ...{ accept: out.isStream ? 'text/event-stream' : 'application/json', 'user-agent': 'callhouse' },
        ...target.headers,
        ...out.headers,
        ...{ 'content-type': 'application/json', 'accept-encoding': 'identity' },
      },
      ...{ timeoutMs: out.timeoutMs, signal: as.signal },
    })
    return await outcomeOf(answer, out, ending)
  } catch (error) {
    const fault = failureFault(error)
    await ending.end(exceptionOf(error))
    throw fault
  }
}
