// Translates a provider's refusal, failure or success for the client.

import { asFault, type Fault, type FaultStatus } from '../core/http/errors.ts'
import { isObject } from '../core/json/objects.ts'
import { inferenceFault } from './errors.ts'
import { scrub } from './secrets.ts'
import { type UpstreamAnswer, UpstreamFailure } from './upstream.ts'

const passedOn = new Set<number>([400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 501, 502, 503, 504])

/** Status that a provider's status is answered with. */
export const answeredStatus = (status: number): FaultStatus =>
  passedOn.has(status) ? (status as FaultStatus) : status >= 400 && status < 500 ? 400 : 502

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const maxMessageLength = 4_000

type ProviderError = { message: string; code: string | null; param: string | null; type: string | undefined }

/** Members of an error that say in words what is wrong, in the order in which they are looked for. */
const wordings = ['message', 'detail', 'msg', 'error_msg', 'error_message', 'status_msg', 'description', 'errors']
const maxNesting = 4

const isSaid = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'object' && value !== null && Object.keys(value).length > 0

/**
 * The error in a provider's answer; the shapes are those of OpenAI, lists of them (Gemini), older vLLM and events of the
 * type `error`. Undefined when it tells of none.
 */
export function errorMember(value: unknown): unknown {
  if (Array.isArray(value)) return isObject(value[0]) ? errorMember(value[0]) : undefined
  if (!isObject(value)) return undefined
  if (isSaid(value.error)) return value.error
  const { type, object, response } = value
  if (type === 'error' || object === 'error') return value
  if (type === 'response.failed') return errorMember(response) ?? value
  const base = value.base_resp
  return isObject(base) && typeof base.status_code === 'number' && base.status_code !== 0 ? base : undefined
}

/** Undefined for what is nested too deep to be written. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Words of an error, which may stand in lists and in errors within it. */
function wordsOf(error: unknown, depth = 0): string | undefined {
  if (typeof error === 'string') return textIn(error)
  if (depth > maxNesting || typeof error !== 'object' || error === null) return undefined
  if (Array.isArray(error)) return wordsOf(error[0], depth + 1)
  const fields = error as Record<string, unknown>
  for (const name of wordings) {
    const { [name]: said } = fields
    // A list of details is reported as it is.
    const isList = name === 'detail' && typeof said === 'object' && isSaid(said)
    const found = isList ? jsonText(said) : wordsOf(said, depth + 1)
    if (found !== undefined) return found
  }
  return wordsOf(fields.error, depth + 1)
}

/** The error message of a provider; undefined when it has none. */
function providerError(value: unknown, secrets: readonly string[]): ProviderError | undefined {
  const error = errorMember(value) ?? value
  const clean = (text: string | undefined) => text && scrub(text, secrets).slice(0, maxMessageLength)
  const message = clean(wordsOf(error))
  if (message === undefined || message === '') return undefined
  const fields = isObject(error) ? error : {}
  return {
    message,
    code: clean(textIn(fields.code)) ?? null,
    param: clean(textIn(fields.param)) ?? null,
    type: fields.type === 'error' ? undefined : clean(textIn(fields.type)),
  }
}

/** The status that an error inside an answer of 200 stands for. */
export function statusOfError(error: unknown): number {
  const { code, status, status_code: other } = isObject(error) ? error : {}
  const found = [code, status, other].map(Number).find((one) => Number.isInteger(one) && one >= 400 && one < 600)
  return found ?? 502
}

/** A fault for an error inside an answer of 200. */
export function faultOfError(error: unknown, secrets: readonly string[]): Fault {
  const reported = providerError({ error }, secrets)
  return inferenceFault(answeredStatus(statusOfError(error)), reported?.message ?? 'The provider failed', {
    code: reported?.code ?? null,
    param: reported?.param ?? null,
    ...(reported?.type === undefined ? {} : { type: reported.type }),
  })
}

const retryAfterForm = /^[\w ,:-]{1,64}$/

function refusal(
  provider: string,
  answer: { status: number; header(name: string): string | undefined },
  body: Buffer,
  secrets: readonly string[],
): Fault {
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A page of a proxy in between says nothing that a program could use.
    value = /^\s*</.test(text) ? undefined : text.trim() || undefined
  }
  const status = answeredStatus(answer.status)
  const reported = providerError(value, secrets)
  const said = reported?.message || `The provider answered ${answer.status}`
  const message = status === 401 || status === 403 ? `${provider}: ${said}` : said
  const sent = answer.header('retry-after')
  const later = sent !== undefined && retryAfterForm.test(sent) ? sent : status === 429 ? '1' : undefined
  const type = reported?.type
  return inferenceFault(status, message, {
    code: reported?.code ?? null,
    param: reported?.param ?? null,
    ...(type === undefined ? {} : { type }),
    headers: later !== undefined && (status === 429 || status >= 500) ? { 'Retry-After': later } : {},
  })
}

const maxRefusalBytes = 64 * 1024

/** The fault for an answer that is not 2xx; of one that is long the text is not read. */
export async function refusalOf(provider: string, answer: UpstreamAnswer, secrets: readonly string[]): Promise<Fault> {
  const body = await answer.bytes(maxRefusalBytes).catch(() => Buffer.alloc(0))
  return refusal(provider, answer, body, secrets)
}

/** The fault for an answer of 200 that is no stream though one was asked for: the error in it, where there is one. */
export async function notAStream(answer: UpstreamAnswer, secrets: readonly string[]): Promise<Fault> {
  const body = await answer.bytes(maxRefusalBytes).catch(() => Buffer.alloc(0))
  let error: unknown
  try {
    error = errorMember(JSON.parse(body.toString('utf8')))
  } catch {
    // The same as an answer without an error.
  }
  if (error !== undefined) return faultOfError(error, secrets)
  return inferenceFault(502, 'The provider did not answer with a stream', { code: 'provider_failed' })
}

const failureStatus = {
  timeout: 504,
  unreachable: 502,
  broken: 502,
  large: 502,
  forbidden: 400,
  gone: 499,
} as const

/** The fault for an error on the way to a provider; other errors stay as they are. */
export function failureFault(error: unknown): unknown {
  if (!(error instanceof UpstreamFailure)) return asFault(error) ?? error
  const code = error.kind === 'timeout' ? 'timeout' : error.kind === 'forbidden' ? 'provider_config' : 'provider_failed'
  return inferenceFault(failureStatus[error.kind], error.message, { code })
}

/** Text of an error for a trace. */
export const exceptionOf = (error: unknown): string =>
  error instanceof UpstreamFailure ? error.message : (asFault(error)?.message ?? 'Internal server error')
