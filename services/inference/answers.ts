// What a provider's refusal, failure or success becomes for the client.

import { asFault, type Fault, type FaultStatus } from '../core/http/errors.ts'
import { isObject } from '../core/json/objects.ts'
import { inferenceFault } from './errors.ts'
import { scrub } from './secrets.ts'
import { type UpstreamAnswer, UpstreamFailure } from './upstream.ts'

const passedOn = new Set<number>([400, 401, 402, 403, 404, 409, 413, 422, 429, 501, 502, 503, 504])

/** Status that a provider's status is answered with. */
export const answeredStatus = (status: number): FaultStatus =>
  passedOn.has(status) ? (status as FaultStatus) : status >= 400 && status < 500 ? 400 : 502

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const maxMessageLength = 4_000

type ProviderError = { message: string; code: string | null; param: string | null; type: string | undefined }

/** What an error object of a provider says; the shapes are those of OpenAI, older vLLM, FastAPI and plain texts. */
export function providerError(value: unknown, secrets: readonly string[]): ProviderError | undefined {
  const error = isObject(value) ? (value.error ?? value) : value
  const clean = (text: string | undefined) => text && scrub(text, secrets).slice(0, maxMessageLength)
  if (typeof error === 'string') return { message: clean(error) as string, code: null, param: null, type: undefined }
  if (!isObject(error)) return undefined
  const { detail } = error
  const message = textIn(error.message) ?? textIn(detail) ?? (detail ? JSON.stringify(detail) : undefined)
  if (message === undefined) return undefined
  return {
    message: clean(message) as string,
    code: clean(textIn(error.code)) ?? null,
    param: clean(textIn(error.param)) ?? null,
    type: clean(textIn(error.type)),
  }
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
