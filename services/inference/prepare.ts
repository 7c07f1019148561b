// Separates a request body: members for the server itself, and members for the provider.
import type { PassThroughRequest } from '../../schemas/inference.ts'
import { type Author, fillMessages, TemplateError } from '../content/message-template.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import type { RouteContext } from '../core/http/route.ts'
import { isCallId, isTraceId } from '../core/ids.ts'
import { stringifyLossless } from '../core/json/lossless.ts'
import { inferenceFault } from './errors.ts'
import { ofRouting, sendable } from './headers.ts'
import { type Edits, type JsonBody, memberValue, withMember } from './json-body.ts'
import { promptMessages } from './prompt.ts'
import { credentialSecrets, isSecretHeader } from './secrets.ts'
import type { ResolveDeps } from './target.ts'
import { type Credentials, parseCredentials } from './vertex.ts'

/** Members about the trace: never sent on. */
const traceNames = ['track_llm_call', 'trace_id', 'parent_id', 'conversation_id', 'conversation_name']
const credentialNames = ['cloud_credentials', 'vertex_credentials']
/** Members that only the server understands, whatever the path. */
const serviceNames = [...credentialNames, 'extra_headers', 'timeout', ...traceNames]
/** The same of chat completions: elsewhere a prompt is the provider's. */
const chatNames = ['prompt', 'template_vars', 'api_version']

const defaultTimeoutMs = 600_000
const maxTimeoutMs = 3_600_000

export const timeoutOf = (seconds: number | null | undefined): number =>
  seconds === undefined || seconds === null ? defaultTimeoutMs : Math.min(maxTimeoutMs, Math.ceil(seconds * 1000))

export type Tracing = {
  isOn: boolean
  traceId: string | undefined
  parentId: string | undefined
  threadId: string | undefined
}

type TraceFields = Pick<PassThroughRequest, 'track_llm_call' | 'trace_id' | 'parent_id' | 'conversation_id'>

/** The tracing options of a request: members of the body count before headers. */
export function tracingOf(request: TraceFields, header: RouteContext['header']): Tracing {
  const given = (name: 'trace_id' | 'parent_id' | 'conversation_id') => request[name] || header(name) || undefined
  const traceId = given('trace_id')
  const parentId = given('parent_id')
  if (traceId !== undefined && !isTraceId(traceId))
    throw inferenceFault(400, 'trace_id must be a UUID or 32 characters', { param: 'trace_id' })
  if (parentId !== undefined && !isCallId(parentId))
    throw inferenceFault(400, 'parent_id must be a UUID or 16 characters', { param: 'parent_id' })
  const isOff = request.track_llm_call === false || header('x-track-call')?.trim().toLowerCase() === 'false'
  return { isOn: !isOff, traceId, parentId, threadId: given('conversation_id') }
}

/** Edits that take away what is only for the server. */
export const withoutService = (isChat: boolean): Edits =>
  new Map([...serviceNames, ...(isChat ? chatNames : [])].map((name) => [name, undefined]))

/** Edits that take away members that are null. */
export const nullEdits = (body: JsonBody): Edits =>
  new Map([...body.members].flatMap(([name, text]) => (text === 'null' ? [[name, undefined]] : [])))

/** The same of bodies for the default engine, which has fields of its own. */
export const withoutTracing = (): Edits => new Map([...credentialNames, ...traceNames].map((name) => [name, undefined]))

export type CredentialParts = {
  credentials: Credentials | undefined
  headers: Record<string, string>
  /** Texts of the request that must never come out. */
  secrets: string[]
}

type CredentialFields = Pick<PassThroughRequest, 'cloud_credentials' | 'vertex_credentials' | 'extra_headers'>

/** No server takes as many. */
const maxHeaders = 500

/** Credentials and headers of the request. @throws Fault 400 for credentials that are no object and odd headers */
export function credentialParts(request: CredentialFields): CredentialParts {
  const text = request.cloud_credentials ?? request.vertex_credentials ?? undefined
  const credentials = text === undefined ? undefined : parseCredentials(text)
  const given = Object.entries(request.extra_headers ?? {}).filter(([, value]) => value !== null)
  if (given.length > maxHeaders)
    throw inferenceFault(400, `extra_headers must not have more than ${maxHeaders} headers`, {
      param: 'extra_headers',
    })
  const sent = Object.fromEntries(given.map(([name, value]): [string, string] => [name, String(value)]))
  const hidden = Object.entries(sent).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []))
  try {
    // The caller's credentials are not the provider's.
    const headers = sendable(sent, ['authorization', ...ofRouting])
    const own = text === undefined || credentials === undefined ? [] : credentialSecrets(text, credentials)
    return { credentials, headers, secrets: [...own, ...hidden, ...hidden.map((value) => value.replace(/^\w+ /, ''))] }
  } catch (error) {
    throw inferenceFault(400, `extra_headers must not contain ${(error as Error).message}`, { param: 'extra_headers' })
  }
}

export type MessagesDeps = Pick<ResolveDeps, 'invoke' | 'config'>

/**
 * The messages that go to the provider: those of the prompt, then the request's, with the variables filled in.
 * @returns undefined when they are the request's own
 */
export async function messagesText(
  { invoke, config }: MessagesDeps,
  request: Pick<PassThroughRequest, 'prompt' | 'template_vars'>,
  body: JsonBody,
  { projectId, as }: { projectId: string; as: InvokeCaller },
): Promise<string | undefined> {
  const { prompt, template_vars: variables } = request
  const hasVariables = variables !== undefined && variables !== null && Object.keys(variables).length > 0
  if (!prompt && !hasVariables) return undefined
  const first = prompt ? await promptMessages(invoke, prompt, projectId, as) : []
  const own = memberValue(body.members, 'messages')
  const all = [...first, ...(Array.isArray(own) ? own : [])]
  if (!hasVariables) return stringifyLossless(all)
  try {
    const exact = memberValue(body.members, 'template_vars') as Record<string, unknown>
    const authorOf = (place: number): Author => (place < first.length ? 'template' : 'user')
    return stringifyLossless(fillMessages(all, exact, config.maxBodyBytes, authorOf))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw inferenceFault(400, error.message, { code: 'template_error' })
  }
}

/** Asks for usage in a stream, so that its trace has it. */
export const withUsage = (body: JsonBody): string => {
  const sent = body.members.get('stream_options')
  const value = memberValue(body.members, 'stream_options') as { include_usage?: unknown } | null | undefined
  return sent !== undefined && value?.include_usage === true ? sent : withMember(sent, 'include_usage', true)
}
