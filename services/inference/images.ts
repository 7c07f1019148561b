// Images by a provider: POST /image/create. The images are stored as files, and a content object stands in their place.

import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { imageCreateRequest, imageCreateResponse } from '../../schemas/images.ts'
import { namesOf } from '../content/json-scan.ts'
import { extensionOf, sniffMime } from '../content/media-types.ts'
import { Fault } from '../core/http/errors.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import { baseUrlFault } from '../core/http/public-url.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import { items as itemsOf, members } from '../core/json/canonical.ts'
import { isRawNumber } from '../core/json/lossless.ts'
import { isObject, objectText } from '../core/json/objects.ts'
import { hasRoom, noRoom } from '../core/memory/heap-room.ts'
import { answerMembers } from './answer-members.ts'
import { errorMember, failureFault, faultOfError, refusalOf } from './answers.ts'
import { type Members, memberValue } from './json-body.ts'
import { resolveTarget } from './resolve.ts'
import type { InferenceRunDeps } from './run.ts'
import type { Target } from './target.ts'
import { UpstreamFailure } from './upstream.ts'

type Request = z.output<typeof imageCreateRequest>
type Json = Record<string, unknown>

const opName = 'weave.image_generation_create'
const timeoutMs = 600_000
const fetchTimeoutMs = 60_000
const maxAnswerBytes = 256 * 1024 * 1024
const maxImageBytes = 64 * 1024 * 1024

/** The request to the images API, which differs from model to model. */
function imageRequest({ model, prompt, n }: Request['inputs'], target: Target): Json {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  const isDallE3 = bare === 'dall-e-3'
  const quality = isDallE3 ? 'standard' : bare === 'gpt-image-1' || bare === 'gpt-image-1.5' ? 'high' : undefined
  const request: Json = {
    model: target.model ?? model,
    prompt,
    n: isDallE3 ? 1 : (n ?? 1),
    size: '1024x1024',
    ...(quality === undefined ? {} : { quality }),
    ...(isDallE3 ? { style: 'natural' } : {}),
    ...(bare.startsWith('gpt-image') ? {} : { response_format: 'url' }),
  }
  for (const name of target.drops) delete request[name]
  return request
}

/** Tokens under the names of chat completions. */
function usageOf(sent: unknown): Record<'prompt_tokens' | 'completion_tokens' | 'total_tokens', number> {
  const usage = isObject(sent) ? sent : {}
  const first = (...names: string[]): number => {
    for (const name of names) {
      const sent = usage[name]
      const count = isRawNumber(sent) ? Number(sent.rawJSON) : typeof sent === 'object' ? 0 : Number(sent)
      if (Number.isSafeInteger(count) && count > 0) return count
    }
    return 0
  }
  return {
    prompt_tokens: first('prompt_tokens', 'input_tokens'),
    completion_tokens: first('completion_tokens', 'output_tokens', 'total_tokens'),
    total_tokens: first('total_tokens'),
  }
}

/** Heap for a byte of an answer: its text, and parts of it. */
const heapPerByte = 4
const noNames = namesOf()

/** Members of the answer, as texts: images are megabytes of them. */
function membersOf(bytes: Buffer): Members {
  if (!hasRoom(bytes.length * heapPerByte)) throw noRoom()
  let found: Members | null = null
  try {
    found = members(answerMembers(bytes, noNames).bytes.toString())
  } catch {
    // The same as another value.
  }
  if (found === null) throw new Fault(502, { reason: 'The provider did not answer a JSON object' })
  return found
}

/** The provider's answer. @throws Fault */
async function generate(
  { upstream }: InferenceRunDeps,
  target: Target,
  inputs: Request['inputs'],
  signal: AbortSignal,
) {
  const answer = await upstream.send({
    method: 'POST',
    url: target.url('images/generations'),
    isTrusted: target.isTrusted,
    timeoutMs,
    signal,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      ...target.headers,
      'accept-encoding': 'identity',
    },
    body: JSON.stringify(imageRequest(inputs, target)),
  })
  if (answer.status < 200 || answer.status > 299) throw await refusalOf(target.provider, answer, target.secrets)
  return membersOf(await answer.bytes(maxAnswerBytes))
}

const whyNot: Record<UpstreamFailure['kind'], string> = {
  timeout: 'its address did not answer in time',
  unreachable: 'its address cannot be reached',
  broken: 'the connection broke off',
  large: 'it is too large',
  forbidden: 'its address must be public',
  gone: 'client disconnected',
}

/** Bytes of an image that a project's provider names: as far away as any address that a project names. */
async function fetched({ upstream, config }: InferenceRunDeps, text: string, signal: AbortSignal): Promise<Buffer> {
  const url = URL.parse(text)
  const reason =
    url === null
      ? 'must be an http or https address'
      : baseUrlFault(`${url.protocol}//${url.host}${url.pathname}`, { allowPrivate: config.allowPrivateNetworks })
  if (url === null || reason !== null) throw new Fault(400, { reason: `The address of an image ${reason}` })
  url.hash = ''
  try {
    const answer = await upstream.send({
      method: 'GET',
      url: url.href,
      isTrusted: false,
      timeoutMs: fetchTimeoutMs,
      signal,
      headers: { accept: 'image/*', 'accept-encoding': 'identity' },
    })
    if (answer.status === 200) return await answer.bytes(maxImageBytes)
    answer.drop()
    throw new Fault(502, { reason: `An image cannot be fetched: its address answered ${answer.status}` })
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    throw new Fault(502, { reason: `An image cannot be fetched: ${whyNot[error.kind]}` })
  }
}

type Storing = { deps: InferenceRunDeps; projectId: string; as: InvokeCaller }

async function storeFile({ deps, projectId, as }: Storing, name: string, bytes: Buffer): Promise<string> {
  const form = new FormData()
  form.set('project_id', projectId)
  form.set('file', new Blob([new Uint8Array(bytes)]), name)
  return (await deps.invoke.json<{ digest: string }>('files.create', form, as)).digest
}

/** Stores an image and answers the object that SDKs read it by. */
async function contentOf(storing: Storing, bytes: Buffer): Promise<Json> {
  if (bytes.length === 0) throw new Fault(502, { reason: 'An image is empty' })
  const found = sniffMime(bytes)
  const mimetype = found?.startsWith('image/') ? found : 'image/png'
  const digest = createHash('sha256').update(bytes).digest('hex')
  const extension = extensionOf(mimetype)
  const metadata = {
    size: bytes.length,
    mimetype,
    digest,
    filename: `image-${digest.slice(0, 4)}${extension}`,
    content_type: 'bytes',
    input_type: 'bytes',
    encoding: 'utf-8',
    metadata: null,
    extension,
  }
  return {
    _type: 'CustomWeaveType',
    weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
    files: {
      content: await storeFile(storing, 'content', bytes),
      'metadata.json': await storeFile(storing, 'metadata.json', Buffer.from(JSON.stringify(metadata))),
    },
  }
}

/** A JSON text's string; undefined when it is none or empty. Base64 has no escapes but those of slashes. */
function stringIn(text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith('"') || text === '""') return undefined
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1)
}

/** The item's text with its image stored; as it came, and why, when that is not possible. */
async function stored(storing: Storing, item: string): Promise<{ item: string; error?: string }> {
  const found = members(item)
  if (found === null) return { item }
  const url = stringIn(found.get('url'))
  const base64 = stringIn(found.get('b64_json'))
  const { deps, as } = storing
  const withContent = async (name: string, bytes: Buffer) => ({
    item: objectText(found.set(name, JSON.stringify(await contentOf(storing, bytes)))),
  })
  try {
    if (url !== undefined) return await withContent('url', await fetched(deps, url, as.signal))
    if (base64 !== undefined) return await withContent('b64_json', Buffer.from(base64, 'base64'))
    return { item }
  } catch (error) {
    as.signal.throwIfAborted()
    return { item, error: messageOf(error) }
  }
}

/** The message of a failure; our own failures have none. */
function messageOf(error: unknown): string {
  const failed = failureFault(error)
  return failed instanceof Fault ? failed.message : 'Internal server error'
}

async function create(deps: InferenceRunDeps, context: RouteContext<Request>) {
  const { input, signal, caller, requestId } = context
  const { model } = input.inputs
  const projectId = context.project(input.project_id)
  const as: InvokeCaller = { caller, signal, requestId, freshness: context }
  const free = await deps.slots.take(projectId)
  try {
    const asked = { model, projectId, as, apiVersion: undefined, credentials: undefined }
    const target = await resolveTarget(deps, asked)
    const startedMs = Date.now()
    const answer = await generate(deps, target, input.inputs, signal)
    const endedMs = Date.now()
    const failed = answer.has('data') ? undefined : errorMember({ error: memberValue(answer, 'error') })
    if (failed !== undefined) throw faultOfError(failed, target.secrets)
    const storing = { deps, projectId, as }
    const data = itemsOf(answer.get('data') ?? 'null')
    const images = await Promise.all((data ?? []).map((item) => stored(storing, item)))
    const error = images.find((image) => image.error !== undefined)?.error
    const usage = usageOf(memberValue(answer, 'usage'))
    if (data !== null) answer.set('data', `[${images.map(({ item }) => item).join(',')}]`)
    answer.set('model', JSON.stringify(model)).set('usage', JSON.stringify(usage))
    if (error !== undefined) answer.set('error', JSON.stringify(error))
    const response = objectText(answer)
    const id = input.track_llm_call ? deps.recorder.newId() : null
    if (id !== null) {
      const inputs = JSON.stringify({ model, prompt: input.inputs.prompt, n: input.inputs.n ?? null })
      const head = { id, projectId, opName, traceId: undefined, parentId: undefined, threadId: undefined, inputs }
      const counts = { model, text: JSON.stringify(usage) }
      await deps.recorder.record(
        head,
        { startedMs, endedMs, output: response, usage: counts, exception: undefined, secrets: target.secrets },
        as,
      )
    }
    return { jsonText: `{"response":${response},"weave_call_id":${JSON.stringify(id)}}` }
  } catch (error) {
    signal.throwIfAborted()
    const failed = failureFault(error)
    if (!(failed instanceof Fault)) throw error
    return { json: { response: { error: failed.message }, weave_call_id: null } }
  } finally {
    free()
  }
}

export const imageRoute = (deps: InferenceRunDeps): Route =>
  route({
    name: 'images.create',
    method: 'POST',
    path: '/image/create',
    summary: 'Images from the provider inferred from the model name, stored as files',
    body: { type: 'json', schema: imageCreateRequest, check: 'schema' },
    response: imageCreateResponse,
    topics: ['calls', 'files'],
    tables: ['objects', 'object_events', 'object_labels'],
    limitsItself: true,
    // Images are megabytes.
    isLong: true,
    handle: (context) => create(deps, context),
  })
