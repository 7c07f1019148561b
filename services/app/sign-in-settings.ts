// Settings of signing in to the page: how long a sign-in lasts, and the provider that signs people in.
import { z } from 'zod'
import { grantIn, groupGrantIn } from '../access/sign-in/people.ts'
import { integer, list, secret, setting, text } from './setting-kinds.ts'

export const signInSettings = {
  sessionHours: integer(168, 'longest life of a sign-in to the page', 1, 8760),
  sessionIdleMinutes: integer(1440, 'a sign-in that is not used for so long ends', 5, 525_600),
  publicUrl: setting(
    '',
    'address under which people reach the server, where it cannot be seen from requests: https://obs.example.com/callhouse',
    z.string().refine((value) => value === '' || /^https?:\/\/[^/?#]+[^?#]*$/.test(value), {
      error: 'must be an http or https address',
    }),
  ),
  oidcIssuer: setting(
    '',
    'OpenID Connect provider that signs people in to the page (https://id.example.com); none = keys only',
    z.string().refine((value) => value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? ''), {
      error: 'must be an http or https address',
    }),
  ),
  oidcClientId: setting('', 'name of this server at the provider', z.string()),
  oidcClientSecret: secret(setting('', 'its secret there; none = a public client', z.string())),
  oidcScopes: text('openid profile email', 'what is asked of the provider', /^openid(?: |$)/, 'must begin with openid'),
  oidcGroupsClaim: text('groups', 'claim that holds the groups of a user; dots go into objects'),
  oidcRoles: list(
    '',
    'roles of groups, as group=role@scope (ml-team=writer@acme)',
    (entry) => groupGrantIn(entry) !== undefined,
    'group=role@scope',
  ),
  oidcDefaultRole: setting(
    '',
    'role@scope of who is in none of these groups; none = he is refused',
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
