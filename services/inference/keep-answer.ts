// Handles an answer when all of it has come: records it, and completes it for the client. Long ones are read in a
// thread.

import { namesOf } from '../content/json-scan.ts'
import { answeredName } from '../content/model-names.ts'
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { maxBytesHere } from '../core/http/long-requests.ts'
import { innerRoute, type Route } from '../core/http/route.ts'
import { parseLossless, stringifyLossless } from '../core/json/lossless.ts'
import { createAggregate, type StreamAggregate } from './aggregate.ts'
import { answerFacts, factNames } from './answer-facts.ts'
import { type AnswerMembers, answerMember, answerMembers, withMembers } from './answer-members.ts'
import { faultOfError } from './answers.ts'
import { type ChunkFacts, chunkFacts, chunkTexts, maxTracedLength } from './chunks.ts'
import { inferenceFault } from './errors.ts'
import type { CallEnd, CallHead, Recorder } from './record.ts'
import { UpstreamFailure } from './upstream.ts'

/** Facts about the answered request that its call needs. */
export type Answered = {
  /** Null = not traced. */
  head: CallHead | null
  startedMs: number
  /** The model as the client named it. */
  model: string | undefined
  /** The model as the provider knows it. */
  providerModel: string | undefined
  /** Chat completions. */
  isChat: boolean
  /** Must not come out again in what failed. */
  secrets: readonly string[]
  /** Members that a completion must have; undefined = the answer is forwarded unchanged. */
  missing?: { id: string; model: string } | undefined
  /** JSON text that the client gets before and behind the answer. */
  around?: { before: string; after: string } | undefined
}

/** Heap for a byte of what is read from its bytes: texts of it. */
const heapPerByte = 8

const readNames = namesOf('id', 'created', ...factNames)

/** The model's name that its usage is recorded under. */
const modelOf = (asked: string | undefined, told: unknown): string =>
  answeredName(asked ?? '', typeof told === 'string' ? told : '')

function modelIn(found: AnswerMembers): unknown {
  const model = answerMember(found, 'model')
  return model?.startsWith('"') ? JSON.parse(model) : undefined
}

function filledIn(found: AnswerMembers, { id, model }: NonNullable<Answered['missing']>): Buffer {
  return withMembers(found, [
    ['id', JSON.stringify(id)],
    ['object', '"chat.completion"'],
    ['created', String(Math.floor(Date.now() / 1000))],
    ['model', JSON.stringify(model)],
  ])
}

type KeepDeps = { recorder: Recorder; invoke: Pick<Invoke, 'answer' | 'json'> }

/** The caller of work that goes on when the client is gone: a provider's answer is recorded. */
const lasting = ({ caller, requestId }: InvokeCaller): InvokeCaller => ({
  caller,
  requestId: requestId ?? '',
  signal: new AbortController().signal,
})

async function keepHere(recorder: Recorder, answered: Answered, bytes: Buffer, as: InvokeCaller): Promise<Buffer> {
  const { head, startedMs, model, missing, around, secrets } = answered
  let found: AnswerMembers
  try {
    found = answerMembers(bytes, readNames)
  } catch {
    throw inferenceFault(502, 'The answer of the provider is not JSON', { code: 'provider_failed' })
  }
  const { usage, failed } = answerFacts(found, answered.isChat)
  const fault = failed && faultOfError(failed.error, secrets)
  if (fault !== undefined && failed?.isAnswer === false) throw fault
  const filled = missing === undefined ? bytes : filledIn(found, missing)
  const end = {
    startedMs,
    endedMs: Date.now(),
    output: found.bytes,
    usage: usage === undefined ? undefined : { model: modelOf(model, modelIn(found)), text: usage },
    exception: fault?.message,
    secrets,
  }
  if (head !== null) await recorder.record(head, end, as)
  if (around === undefined) return filled
  return Buffer.concat([Buffer.from(around.before), filled, Buffer.from(around.after)])
}

/**
 * Records a whole answer.
 * @param bytes are given away
 * @returns what the client gets
 * @throws Fault 502 when it is no JSON, and that of an error without an answer; nothing is recorded then
 */
export async function keepAnswer(
  { recorder, invoke }: KeepDeps,
  answered: Answered,
  bytes: Buffer,
  as: InvokeCaller,
): Promise<Buffer> {
  if (bytes.length <= maxBytesHere) return keepHere(recorder, answered, bytes, as)
  const params = { answered: JSON.stringify(answered) }
  return (await invoke.answer('inference.keep_answer', bytes, lasting(as), params)).bytes
}

/**
 * The facts about a stream for its call. Values that are nested too deep to be written are left out: recording fails no
 * request.
 */
export function seenIn(
  aggregate: StreamAggregate,
  providerModel: string | undefined,
  asked: string | undefined,
): Pick<CallEnd, 'output' | 'usage'> {
  try {
    const result = aggregate.result(providerModel)
    const output = result === null ? 'null' : stringifyLossless(result)
    const counts = aggregate.usage()
    if (typeof counts !== 'object' || counts === null) return { output, usage: undefined }
    return {
      output,
      usage: { model: modelOf(asked, aggregate.model() ?? result?.model), text: stringifyLossless(counts) },
    }
  } catch {
    return { output: 'null', usage: undefined }
  }
}

type About = Pick<CallEnd, 'startedMs' | 'endedMs' | 'exception' | 'secrets'>

/** Records a long stream by its chunks. Resolves as `Recorder.record` does. */
export async function keepChunks(
  { recorder, invoke }: KeepDeps,
  answered: Answered,
  about: About,
  chunks: Buffer,
  as: InvokeCaller,
): Promise<void> {
  const params = { answered: JSON.stringify(answered), about: JSON.stringify(about) }
  const storing = invoke.answer('inference.keep_chunks', chunks, lasting(as), params)
  await recorder.waitFor((answered.head as CallHead).id, storing, as)
}

async function keepChunksHere(recorder: Recorder, answered: Answered, about: About, chunks: Buffer, as: InvokeCaller) {
  const aggregate = createAggregate(maxTracedLength)
  for (const text of chunkTexts(chunks)) aggregate.add(parseLossless(text), text.length)
  const seen = seenIn(aggregate, answered.providerModel, answered.model)
  await recorder.record(answered.head as CallHead, { ...about, ...seen }, as)
}

/** The facts of a long chunk. @throws UpstreamFailure when it is no JSON */
export async function longFacts(
  { invoke }: KeepDeps,
  data: string,
  secrets: readonly string[],
  as: InvokeCaller,
): Promise<ChunkFacts> {
  const params = { secrets: JSON.stringify(secrets) }
  const facts = await invoke.json<ChunkFacts | null>('inference.read_chunk', Buffer.from(data), as, params)
  if (facts === null) throw malformedChunk()
  return facts
}

export const malformedChunk = () => new UpstreamFailure('broken', 'The provider sent a malformed chunk')

function factsIn(bytes: Buffer, secrets: readonly string[]): ChunkFacts | null {
  try {
    return chunkFacts(parseLossless(bytes.toString()), secrets)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Work of inference that long answers do in a thread. */
export function keepRoutes({ recorder }: Pick<KeepDeps, 'recorder'>): Route[] {
  return [
    innerRoute({
      name: 'inference.keep_answer',
      heapPerByte,
      summary: 'Records a whole answer of a provider and completes it for the client',
      async handle({ body, params, caller, signal, requestId }) {
        const answered = JSON.parse(params.answered as string) as Answered
        return { jsonText: await keepHere(recorder, answered, body.bytes, { caller, signal, requestId }) }
      },
    }),
    innerRoute({
      name: 'inference.keep_chunks',
      heapPerByte,
      summary: 'Records a long stream of a provider',
      async handle({ body, params, caller, signal, requestId }) {
        const answered = JSON.parse(params.answered as string) as Answered
        const about = JSON.parse(params.about as string) as About
        await keepChunksHere(recorder, answered, about, body.bytes, { caller, signal, requestId })
        return { json: null }
      },
    }),
    innerRoute({
      name: 'inference.read_chunk',
      heapPerByte,
      summary: 'Tells what a long chunk of a stream says',
      handle: async ({ body, params }) => ({ json: factsIn(body.bytes, JSON.parse(params.secrets as string)) }),
    }),
  ]
}
