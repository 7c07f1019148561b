// Service accounts of Vertex AI: exchanged for a short-lived token (RFC 7523), and where their models are served.
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto'
import { baseUrlFault } from '../core/http/public-url.ts'
import { failureFault } from './answers.ts'
import { inferenceFault } from './errors.ts'
import type { Upstream } from './upstream.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const defaultTokenUrl = 'https://oauth2.googleapis.com/token'
const tokenSeconds = 3600
const timeoutMs = 30_000
const maxTokenBytes = 64 * 1024

export type Credentials = Record<string, unknown>

/** @throws Fault 400 when the text is no JSON object */
export function parseCredentials(text: string): Credentials {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw inferenceFault(400, 'cloud_credentials must be the JSON text of an object', { param: 'cloud_credentials' })
  return value as Credentials
}

const textOf = (credentials: Credentials, name: string): string => {
  const value = credentials[name]
  if (typeof value === 'string' && value !== '') return value
  throw inferenceFault(400, `cloud_credentials has no ${name}`, { param: 'cloud_credentials' })
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signedAssertion(credentials: Credentials, audience: string): string {
  let key: KeyObject
  try {
    key = createPrivateKey(textOf(credentials, 'private_key'))
  } catch {
    throw inferenceFault(400, 'The private_key of cloud_credentials is not readable', { param: 'cloud_credentials' })
  }
  if (key.asymmetricKeyType !== 'rsa')
    throw inferenceFault(400, 'The private_key of cloud_credentials is not an RSA key', { param: 'cloud_credentials' })
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: textOf(credentials, 'client_email'), scope, aud: audience, iat: now, exp: now + tokenSeconds }
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
}

/**
 * The token that stands for the service account. It is asked for anew each time: nothing of a credential is kept.
 * @throws Fault 400 or 401 for the credentials, 502 or 504 when the token server fails
 */
export async function exchangeCredentials(
  upstream: Upstream,
  credentials: Credentials,
  { signal, allowPrivate }: { signal: AbortSignal; allowPrivate: boolean },
): Promise<string> {
  const url = credentials.token_uri === undefined ? defaultTokenUrl : textOf(credentials, 'token_uri')
  const wrong = baseUrlFault(url, { allowPrivate })
  if (wrong !== null)
    throw inferenceFault(400, `The token_uri of cloud_credentials ${wrong}`, { param: 'cloud_credentials' })
  const assertion = signedAssertion(credentials, url)
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const asked = async () => {
    const answer = await upstream.send({
      method: 'POST',
      url,
      body: form.toString(),
      isTrusted: false,
      timeoutMs,
      signal,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    })
    return { status: answer.status, bytes: await answer.bytes(maxTokenBytes) }
  }
  const answer = await asked().catch((error: unknown) => {
    throw failureFault(error)
  })
  let token: unknown
  try {
    token = (JSON.parse(answer.bytes.toString()) as { access_token?: unknown }).access_token
  } catch {
    token = undefined
  }
  if (answer.status === 200 && typeof token === 'string' && token !== '') return token
  // The answer of the token server may quote the assertion.
  const status = answer.status >= 400 && answer.status < 500 ? 401 : 502
  throw inferenceFault(status, 'vertex_ai: the credentials were not accepted', { code: 'invalid_credentials' })
}

/** Base address of the OpenAI-compatible endpoint of the account's project. */
export function vertexBaseUrl(credentials: Credentials): string {
  const project = encodeURIComponent(textOf(credentials, 'project_id').toWellFormed())
  const { location = 'us-central1' } = credentials
  if (typeof location !== 'string' || !/^[a-z0-9-]{1,40}$/.test(location))
    throw inferenceFault(400, 'The location of cloud_credentials is not valid', { param: 'cloud_credentials' })
  return `https://${location}-aiplatform.googleapis.com/v1/projects/${project}/locations/${location}/endpoints/openapi`
}
