// Settings of signing in to the page: how long a sign-in lasts, and the provider that signs people in.
import { z } from 'zod'
import { grantIn, groupGrantIn } from '../access/sign-in/people.ts'
import { integer, list, secret, setting, text } from './setting-kinds.ts'

export const signInSettings = {
  sessionHours: integer(168, 'longest life of a sign-in to the page', 1, 8760),
  sessionIdleMinutes: integer(1440, 'a sign-in ends when it was not used for so long', 5, 525_600),
  publicUrl: setting(
    '',
    'address that people use, where requests do not show it: https://obs.example.com/callhouse',
    z.string().refine((value) => value === '' || /^https?:\/\/[^/?#]+[^?#]*$/.test(value), {
      error: 'must be an http or https address',
    }),
  ),
  oidcIssuer: setting(
    '',
    'OpenID Connect provider that signs people in (https://id.example.com); none = keys only',
    z.string().refine((value) => value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? ''), {
      error: 'must be an http or https address',
    }),
  ),
  oidcClientId: setting('', 'client id of this server at the provider', z.string()),
  oidcClientSecret: secret(setting('', 'client secret; none = a public client', z.string())),
  oidcScopes: text(
    'openid profile email',
    'scopes to ask for; must begin with openid',
    /^openid(?: |$)/,
    'must begin with openid',
  ),
  oidcGroupsClaim: text('groups', 'claim with the groups of a user; dots go into objects'),
  oidcRoles: list(
    '',
    'roles of groups: group=role@scope, such as ml-team=writer@acme',
    (entry) => groupGrantIn(entry) !== undefined,
    'group=role@scope',
  ),
  oidcDefaultRole: setting(
    '',
    'role@scope of a user in none of these groups; none = refused',
    z.string().refine((value) => value === '' || grantIn(value) !== undefined, { error: 'must be role@scope' }),
  ),
  oidcDomains: list(
    '',
    'domains of verified email addresses that may sign in; none = all',
    (entry) => entry !== '',
    'domains',
  ),
  oidcGrantDays: integer(30, 'days after the last sign-in for which roles of groups hold', 1, 365),
}
