// Settings of signing in to the page: how long a sign-in lasts, and the provider that signs people in.
import { z } from 'zod'
import { grantIn, groupGrantIn } from '../access/sign-in/people.ts'
import { integer, list, secret, setting, text } from './setting-kinds.ts'

export const signInSettings = {
  sessionHours: integer(168, 'maximum session lifetime of the page in hours', 1, 8760),
  sessionIdleMinutes: integer(1440, 'idle timeout of sessions in minutes', 5, 525_600),
  publicUrl: setting(
    '',
    'public URL of the server, if requests do not show it: https://obs.example.com/callhouse',
    z.string().refine((value) => value === '' || /^https?:\/\/[^/?#]+[^?#]*$/.test(value), {
      error: 'must be an http or https address',
    }),
  ),
  oidcIssuer: setting(
    '',
    'OpenID Connect provider for sign-in (https://id.example.com); empty = API keys only',
    z.string().refine((value) => value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? ''), {
      error: 'must be an http or https address',
    }),
  ),
  oidcClientId: setting('', 'client ID of this server at the provider', z.string()),
  oidcClientSecret: secret(setting('', 'client secret; empty = public client', z.string())),
  oidcScopes: text(
    'openid profile email',
    'OpenID Connect scopes to request',
    /^openid(?: |$)/,
    'must begin with openid',
  ),
  oidcGroupsClaim: text('groups', 'claim with the groups of a user; dots select nested fields'),
  oidcRoles: list(
    '',
    'roles by group, as group=role@scope (ml-team=writer@acme)',
    (entry) => groupGrantIn(entry) !== undefined,
    'group=role@scope',
  ),
  oidcDefaultRole: setting(
    '',
    'role@scope of users in none of these groups; empty = access denied',
    z.string().refine((value) => value === '' || grantIn(value) !== undefined, { error: 'must be role@scope' }),
  ),
  oidcDomains: list(
    '',
    'domains of verified email addresses that can sign in; empty = all',
    (entry) => entry !== '',
    'domains',
  ),
  oidcGrantDays: integer(30, 'days that roles from groups stay valid after the last sign-in', 1, 365),
}
