// The routes of inference: completions by the default engine, requests passed on to a provider, lists of models.
import { z } from 'zod'
import {
  type ChatCompletionRequest,
  chatCompletionRequest,
  chatCompletionResponse,
  forwardedRequest,
  modelListResponse,
  type PassThroughRequest,
  passThroughRequest,
} from '../../schemas/inference.ts'
import type { Slots } from '../core/concurrency/slots.ts'
import { checkedBody } from '../core/http/details.ts'
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import type { Logger } from '../core/process/logger.ts'
import { failureFault, refusalOf } from './answers.ts'
import { chatEdits, checkChatRequest } from './chat-request.ts'
import { isEnginePath } from './engine-paths.ts'
import { asInferenceFault, inferenceFault } from './errors.ts'
import { imageRoute } from './images.ts'
import { jsonBody } from './json-body.ts'
import { createEngineModels, modelsOf, usableModels } from './models.ts'
import { credentialParts, nullEdits, tracingOf, withoutService, withoutTracing } from './prepare.ts'
import type { Providers } from './providers.ts'
import { createRecorder } from './record.ts'
import { inferenceReply } from './reply.ts'
import { engineTarget, providerTarget } from './resolve.ts'
import { type InferenceRunDeps, type Operation, runInference } from './run.ts'
import { sdkCompletionRoutes } from './sdk-completions.ts'
import { createSecrets, type OwnSecrets } from './secrets.ts'
import type { InferenceConfig, Target } from './target.ts'
import { createUpstream } from './upstream.ts'

export type InferenceDeps = {
  invoke: Invoke
  config: InferenceConfig & { secrets: Readonly<Record<string, string>>; sharedSecrets: boolean }
  /** Secrets of projects and entities. */
  secrets: OwnSecrets
  providers: () => Providers
  logger: Pick<Logger, 'warn'>
  slots: Slots
}

const operations = new Map<string, Operation>(
  (
    [
      ['chat/completions', 'weave.completions_create'],
      ['images/generations', 'weave.image_generation_create'],
      ['completions', 'weave.text_completions_create'],
      ['embeddings', 'weave.embeddings_create'],
      ['responses', 'weave.responses_create'],
    ] as const
  ).map(([path, opName]) => [path, { path, opName, isChat: path === 'chat/completions' }]),
)
const chat = operations.get('chat/completions') as Operation

const maxGetBytes = 64 * 1024 * 1024
const getTimeoutMs = 60_000

type Context<Input = unknown> = RouteContext<Input>

/** The project of a request: OpenAI clients send it as a header; without one it is the key's own. */
function projectOf(context: Context): string {
  const given =
    // Only who runs a route inside the process can name one.
    context.params.project_id ||
    context.header('openai-project') ||
    context.header('project_id') ||
    context.query.get('project_id')
  return context.project(given || `${context.caller.entity}/inference`)
}

const callerOf = (context: Context): InvokeCaller => ({
  caller: context.caller,
  signal: context.signal,
  requestId: context.requestId,
  freshness: context,
})

const noSuchPath = (path: string) => inferenceFault(404, `Unknown path: ${path.slice(0, 200)}`)

/** Asks an address of the operator's with GET. */
async function get({ upstream }: InferenceRunDeps, target: Target, path: string, signal: AbortSignal) {
  try {
    const answer = await upstream.send({
      method: 'GET',
      url: target.url(path),
      isTrusted: true,
      timeoutMs: getTimeoutMs,
      signal,
      headers: { accept: 'application/json', ...target.headers, 'accept-encoding': 'identity' },
    })
    if (answer.status < 200 || answer.status > 299) throw await refusalOf(target.provider, answer, target.secrets)
    return { bytes: await answer.bytes(maxGetBytes), contentType: answer.header('content-type') ?? 'application/json' }
  } catch (error) {
    throw failureFault(error)
  }
}

async function runChat(deps: InferenceRunDeps, context: Context<ChatCompletionRequest>) {
  const projectId = projectOf(context)
  const request = context.input
  const { config } = deps
  checkChatRequest(request, config)
  const model = request.model ?? undefined
  const isPrefixed = model?.startsWith(config.enginePrefix) === true
  const target = engineTarget(config, isPrefixed ? model?.slice(config.enginePrefix.length) : model)
  const body = jsonBody(context.body.bytes.toString())
  const tracing = tracingOf(request, (name) => context.header(name))
  const ran = await runInference(deps, {
    operation: chat,
    projectId,
    as: callerOf(context),
    body,
    model,
    tracing,
    target,
    request: { stream: request.stream },
    parts: { credentials: undefined, headers: {}, secrets: [] },
    edits: new Map([...withoutTracing(), ...chatEdits(request, body.members)]),
    wantsUsage: request.stream_options ? request.stream_options.include_usage !== false : false,
    missing: { id: `chatcmpl-${request.request_id ?? context.requestId}`, model: model ?? 'default' },
  })
  return inferenceReply(ran)
}

async function passOn(deps: InferenceRunDeps, context: Context) {
  const path = (context.params.path ?? '').replace(/\/+$/, '')
  const operation = operations.get(path)
  if (operation === undefined) throw noSuchPath(path)
  const { isChat } = operation
  const request: PassThroughRequest = isChat
    ? checkedBody(passThroughRequest, context.input)
    : (checkedBody(forwardedRequest, context.input) as PassThroughRequest)
  const projectId = projectOf(context)
  const body = jsonBody(context.body.bytes.toString())
  const tracing = tracingOf(request, (name) => context.header(name))
  const ran = await runInference(deps, {
    operation,
    projectId,
    as: callerOf(context),
    body,
    request,
    model: request.model,
    tracing,
    parts: credentialParts(request),
    edits: new Map([...withoutService(isChat), ...(isChat ? nullEdits(body) : [])]),
    wantsUsage: request.stream_options?.include_usage === true,
  })
  return inferenceReply(ran)
}

async function read(deps: InferenceRunDeps, context: Context) {
  const path = (context.params.path ?? '').replace(/\/+$/, '')
  const projectId = projectOf(context)
  if (path === 'models' || path.startsWith('models/')) {
    const data = await usableModels(deps, projectId, callerOf(context))
    if (path === 'models') return { json: { object: 'list', data } }
    const id = path.slice('models/'.length)
    const found = data.find((one) => one.id === id)
    if (found !== undefined) return { json: found }
    throw inferenceFault(404, `The model ${id.slice(0, 200)} does not exist`, { code: 'model_not_found' })
  }
  // The engine answers with the operator's key: what may be read with it is the operator's choice.
  if (deps.config.engineUrl === undefined || !isEnginePath(deps.config.engineGetPaths, path)) throw noSuchPath(path)
  const query = new URLSearchParams(context.query)
  for (const own of ['project_id', 'freshness']) query.delete(own)
  const asked = path.split('/').map(encodeURIComponent).join('/') + (query.size > 0 ? `?${query}` : '')
  return get(deps, engineTarget(deps.config, undefined), asked, context.signal)
}

async function readRouter(deps: InferenceRunDeps, context: Context) {
  const { router = '' } = context.params
  const projectId = projectOf(context)
  const providers = deps.providers()
  const provider = providers.isRouter(router) ? providers.find(router) : undefined
  if (router !== 'default' && provider === undefined)
    throw inferenceFault(404, `Unknown router: ${router.slice(0, 200)}`)
  const target =
    provider === undefined
      ? engineTarget(deps.config, undefined)
      : await providerTarget(deps, provider, '', {
          projectId,
          apiVersion: undefined,
          credentials: undefined,
          as: callerOf(context),
        })
  const { bytes } = await get(deps, target, 'models', context.signal)
  return { json: { object: 'list', data: modelsOf(bytes, router) } }
}

export function createInferenceRoutes({
  invoke,
  config,
  providers,
  secrets: own,
  logger,
  slots,
}: InferenceDeps): Route[] {
  const upstream = createUpstream(config)
  const secrets = createSecrets({
    values: config.sharedSecrets ? config.secrets : {},
    own,
    binding: (name) => providers().binding(name),
    onRefused: (name, { projectId, address }) =>
      logger.warn(
        { secret: name, projectId, address },
        'a secret was not sent: it is not bound to project and address',
      ),
  })
  const idle = Object.keys(config.secrets).filter((name) => !providers().secretNames().has(name))
  if (idle.length > 0)
    logger.warn({ secrets: idle }, 'secrets that no provider of the operator uses and no binding names serve nobody')
  const deps: InferenceRunDeps = {
    invoke,
    config,
    upstream,
    providers,
    secrets,
    engineModels: createEngineModels({ upstream, config }),
    recorder: createRecorder({ invoke, logger }),
    slots,
  }
  return [
    route({
      name: 'inference.chat',
      method: 'POST',
      path: '/v1/chat/completions',
      summary: 'A chat completion by the default engine, streamed on request',
      body: { type: 'json', schema: chatCompletionRequest, check: 'schema' },
      response: chatCompletionResponse,
      topics: ['calls'],
      limitsItself: true,
      faultAs: asInferenceFault,
      handle: (context) => runChat(deps, context),
    }),
    route({
      name: 'inference.pass_on',
      method: 'POST',
      path: '/inference/v1/{path*}',
      summary: 'Forwards a request to the provider inferred from the model name',
      body: { type: 'json', schema: passThroughRequest, check: 'handler' },
      response: z.unknown(),
      topics: ['calls'],
      tables: ['objects', 'object_events', 'object_labels'],
      limitsItself: true,
      faultAs: asInferenceFault,
      handle: (context) => passOn(deps, context),
    }),
    route({
      name: 'inference.read',
      method: 'GET',
      path: '/inference/v1/{path*}',
      summary: 'The models that may be used, one of them, or what the default engine answers',
      body: { type: 'none' },
      response: z.unknown(),
      tables: ['objects', 'object_events', 'object_labels'],
      faultAs: asInferenceFault,
      handle: (context) => read(deps, context),
    }),
    route({
      name: 'inference.router_models',
      method: 'GET',
      path: '/inference/router/{router}/models',
      summary: 'The models of the default engine or of a provider that the operator added',
      body: { type: 'none' },
      response: modelListResponse,
      tables: [],
      isLong: true,
      faultAs: asInferenceFault,
      handle: (context) => readRouter(deps, context),
    }),
    imageRoute(deps),
    ...sdkCompletionRoutes(deps),
  ]
}
