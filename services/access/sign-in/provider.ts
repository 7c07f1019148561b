// The provider that signs people in by OpenID Connect: where a browser is sent, what comes back, and who signed out there.
import { createRemoteJWKSet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { fault } from '../../core/http/errors.ts'
import type { Claims } from './people.ts'

export type ProviderSettings = {
  oidcIssuer: string
  oidcClientId: string
  oidcClientSecret: string
  oidcScopes: string
}

/** The sealed state that a browser keeps between leaving for the provider and coming back. */
type Pending = { state: string; nonce: string; verifier: string; returnTo: string; atMs: number }

type LoggedOut = {
  iss: string
  sub: string
  /** Id of the token, and when it was issued. */
  jti: string
  issuedMs: number
}

type SignInProvider = {
  /** @throws Fault 502 while the provider does not answer */
  begin(redirectUri: string, returnTo: string): Promise<{ url: string; pending: Pending }>
  /** @throws Fault 401 for an answer that is not to this question, 502 while the provider does not answer */
  finish(answer: URL, pending: Pending): Promise<{ claims: Claims; untilMs?: number }>
  /**
   * The person who has signed out there. @throws Fault 400 for a token that is none of the provider's, or is too old
   */
  loggedOut(token: string): Promise<LoggedOut>
}

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
export const toleranceSeconds = 30
/** A provider sends a logout token at once, or tries again for some minutes. */
export const logoutTokenSeconds = 300
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const timeoutSeconds = 10
/** A key that is not known is asked for at once, so that a provider may change it, but not more often. */
const keyPauseMs = 1_000

const isLoopback = ({ hostname }: URL): boolean => /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)

export function createProvider(settings: ProviderSettings, now: () => number): SignInProvider {
  const issuer = new URL(settings.oidcIssuer)
  let found: Promise<client.Configuration> | undefined
  let keySet: ReturnType<typeof createRemoteJWKSet> | undefined

  async function discover(): Promise<client.Configuration> {
    // Over plain http only on this machine, where nobody listens.
    const execute = isLoopback(issuer) ? [client.allowInsecureRequests] : []
    const metadata = { [client.clockTolerance]: toleranceSeconds }
    const auth = settings.oidcClientSecret === '' ? client.None() : client.ClientSecretPost(settings.oidcClientSecret)
    return client.discovery(issuer, settings.oidcClientId, metadata, auth, { execute, timeout: timeoutSeconds })
  }

  async function known(): Promise<client.Configuration> {
    found ??= discover()
    try {
      return await found
    } catch (error) {
      found = undefined
      throw fault(502, `The sign-in provider is not responding: ${(error as Error).message}`)
    }
  }

  /** The claims of a token that the provider has signed for us. @throws Error of jose */
  async function verified(token: string, more: JWTVerifyOptions): Promise<JWTPayload> {
    const { jwks_uri: keysUri, issuer: iss } = (await known()).serverMetadata()
    if (keysUri === undefined) throw fault(502, 'The provider publishes no keys')
    keySet ??= createRemoteJWKSet(new URL(keysUri), {
      cooldownDuration: keyPauseMs,
      timeoutDuration: timeoutSeconds * 1000,
    })
    const bounds = { issuer: iss, audience: settings.oidcClientId, algorithms, clockTolerance: toleranceSeconds }
    return (await jwtVerify(token, keySet, { ...bounds, ...more })).payload
  }

  return {
    async begin(redirectUri, returnTo) {
      const config = await known()
      const pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        returnTo,
        atMs: now(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.oidcScopes,
        response_type: 'code',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge_method: 'S256',
        code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
      })
      return { url: url.href, pending }
    },
    async finish(answer, pending) {
      const config = await known()
      let tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>
      try {
        tokens = await client.authorizationCodeGrant(config, answer, {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        })
      } catch (error) {
        // A connection that failed; everything else is an answer that does not count.
        if (error instanceof TypeError) throw fault(502, 'The sign-in provider is not responding')
        throw fault(401, 'Sign-in failed, or the response does not belong to this sign-in')
      }
      const claims = await verified(tokens.id_token ?? '', { requiredClaims: ['sub', 'exp', 'iat'] }).catch(() => {
        throw fault(401, 'The response of the provider has an invalid signature')
      })
      const { session_expiry: until } = claims
      return { claims: claims as Claims, ...(typeof until === 'number' && { untilMs: until * 1000 }) }
    },
    async loggedOut(token) {
      const maxTokenAge = logoutTokenSeconds
      const currentDate = new Date(now())
      const payload = await verified(token, { requiredClaims: ['iat', 'jti'], maxTokenAge, currentDate }).catch(() => {
        throw fault(400, 'Invalid or expired logout token')
      })
      const { events, iss, sub, jti, iat } = payload
      const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, logoutEvent)
      // A token of a sign-in must not pass for one.
      if (!isLogout || payload.nonce !== undefined || typeof sub !== 'string' || typeof jti !== 'string')
        throw fault(400, 'The logout token has no user')
      return { iss: iss as string, sub, jti, issuedMs: (iat as number) * 1000 }
    },
  }
}
