// Completions as SDKs ask for them: the request in an envelope, and errors of providers inside an answer of 200.
import type { z } from 'zod'
import { completionsCreateRequest, completionsCreateResponse } from '../../schemas/inference.ts'
import { asFault, type Fault } from '../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import { orderedUuidv7 } from '../core/ids.ts'
import { members, oneLine } from '../core/json/canonical.ts'
import { jsonBody } from './json-body.ts'
import { credentialParts, nullEdits, tracingOf, withoutService } from './prepare.ts'
import { type InferenceRunDeps, type Operation, type Ran, runInference } from './run.ts'

type Context = RouteContext<z.output<typeof completionsCreateRequest>>

const operation: Operation = { path: 'chat/completions', opName: 'weave.completions_create', isChat: true }

/** Ids of the call of a request, as SDKs read them. */
type Meta = Record<'weave_call_id' | 'span_id' | 'trace_id' | 'conversation_id', string | null>

/** Text after the response. */
const afterIt = (meta: Meta): string => `,${JSON.stringify(meta).slice(1)}`

type Begun = { meta: Meta; ran: Ran } | { meta: Meta; error: Fault }

/** Runs the request; what a provider or its settings refuse is no error of the route. */
async function begin(deps: InferenceRunDeps, context: Context, isStream: boolean): Promise<Begun> {
  const { input } = context
  const projectId = context.project(input.project_id)
  const body = jsonBody(members(context.body.bytes.toString())?.get('inputs') ?? '{}')
  const request = { ...input.inputs, stream: isStream }
  const found = tracingOf({ ...request, ...input }, () => undefined)
  const tracing = { ...found, traceId: found.traceId ?? orderedUuidv7() }
  const metaOf = (callId: string | undefined): Meta => ({
    weave_call_id: callId ?? null,
    span_id: null,
    trace_id: callId === undefined ? null : tracing.traceId,
    conversation_id: tracing.threadId ?? null,
  })
  const { caller, signal, requestId } = context
  try {
    const ran = await runInference(deps, {
      operation,
      projectId,
      body,
      request,
      model: request.model,
      tracing,
      wantsUsage: true,
      around: (callId) => ({ before: '{"response":', after: afterIt(metaOf(callId)) }),
      as: { caller, signal, requestId, freshness: context },
      parts: credentialParts(request),
      edits: new Map([...withoutService(true), ...nullEdits(body), ['stream', isStream ? 'true' : undefined]]),
    })
    return { meta: metaOf(ran.callId), ran }
  } catch (error) {
    const fault = asFault(error)
    if (fault === undefined) throw error
    return { meta: metaOf(fault.headers['X-Call-Id']), error: fault }
  }
}

async function create(deps: InferenceRunDeps, context: Context) {
  const begun = await begin(deps, context, false)
  if ('ran' in begun) {
    const { outcome } = begun.ran
    if (outcome.kind !== 'whole') throw new Error('a stream came though none was asked for')
    return { jsonText: outcome.bytes }
  }
  const { message: error, status: error_status_code, body } = begun.error
  const secret = typeof body.api_key === 'string' ? { api_key: body.api_key } : {}
  return { jsonText: `{"response":${JSON.stringify({ error, error_status_code, ...secret })}${afterIt(begun.meta)}` }
}

async function* linesOf(begun: Begun): AsyncGenerator<string> {
  if (begun.meta.weave_call_id !== null) yield `${JSON.stringify({ _meta: begun.meta })}\n`
  if ('error' in begun) {
    yield `${JSON.stringify({ error: begun.error.message, error_status_code: begun.error.status })}\n`
    return
  }
  const { outcome } = begun.ran
  if (outcome.kind !== 'chunks') throw new Error('no chunks came though they were asked for')
  for await (const item of outcome.items)
    yield 'chunk' in item ? `${oneLine(item.chunk)}\n` : `${JSON.stringify({ error: item.error.message })}\n`
}

export const sdkCompletionRoutes = (deps: InferenceRunDeps): Route[] => [
  route({
    name: 'completions.create',
    method: 'POST',
    path: '/completions/create',
    summary: 'A completion for SDKs; errors of the provider are returned in the body with status 200',
    body: { type: 'json', schema: completionsCreateRequest, check: 'schema' },
    response: completionsCreateResponse,
    topics: ['calls'],
    tables: ['objects', 'object_events', 'object_labels'],
    limitsItself: true,
    handle: (context) => create(deps, context),
  }),
  route({
    name: 'completions.create_stream',
    method: 'POST',
    path: '/completions/create_stream',
    summary: 'A streamed completion for SDKs, as JSON Lines',
    body: { type: 'json', schema: completionsCreateRequest, check: 'schema' },
    response: null,
    responseType: 'application/jsonl',
    topics: ['calls'],
    tables: ['objects', 'object_events', 'object_labels'],
    limitsItself: true,
    handle: async (context) => ({
      lines: linesOf(await begin(deps, context, true)),
      contentType: 'application/jsonl',
      headers: { 'X-Accel-Buffering': 'no' },
    }),
  }),
]
