// Adds a person whom a provider has signed in to the directory: a user, and the grants of its groups.
import type { Change } from '../../core/directory/directory.ts'
import { itemKey, type UserValue } from '../../core/directory/items.ts'
import { isScope, type Role, roles, type Scope } from '../../core/directory/roles.ts'
import type { DirectoryState } from '../../core/directory/state.ts'
import { RefusedChange } from '../../core/http/key-changes.ts'

/** Claims of an id token, checked by the caller. */
export type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

type Grant = { role: Role; scope: Scope }

export type PeopleSettings = {
  /** Claim that holds the groups; dots go into objects. */
  oidcGroupsClaim: string
  /** `group=role@scope` */
  oidcRoles: readonly string[]
  /** `role@scope` of who is in none of these groups; '' = he is refused. */
  oidcDefaultRole: string
  /** Domains of verified email addresses; none = all. */
  oidcDomains: readonly string[]
  oidcGrantDays: number
}

/** `writer@acme/app`; undefined when it is none. */
export function grantIn(text: string): Grant | undefined {
  const at = text.indexOf('@')
  const [role, scope] = [text.slice(0, at), text.slice(at + 1)]
  return roles.includes(role as Role) && isScope(scope) ? { role: role as Role, scope } : undefined
}

/** `group=role@scope`: what stands before the last `=` names the group. */
export function groupGrantIn(text: string): { group: string; grant: Grant } | undefined {
  const equals = text.lastIndexOf('=')
  const grant = equals > 0 ? grantIn(text.slice(equals + 1)) : undefined
  return grant && { group: text.slice(0, equals), grant }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** @throws RefusedChange 403 when the provider has left the groups out because there are too many */
function groupsOf(claims: Claims, claim: string): string[] {
  const words = claim.split('.')
  const cut = claims._claim_names
  if (typeof cut === 'object' && cut !== null && Object.hasOwn(cut, words[0] as string))
    throw new RefusedChange(`The provider truncated the claim ${claim}: too many groups`, 403)
  let found: unknown = Object.hasOwn(claims, claim) ? claims[claim] : claims
  if (found === claims)
    for (const word of words)
      found =
        typeof found === 'object' && found !== null && Object.hasOwn(found, word) ? Reflect.get(found, word) : undefined
  const list = Array.isArray(found) ? found : typeof found === 'string' ? [found] : []
  return list.filter((one): one is string => typeof one === 'string')
}

/** @throws RefusedChange 403 for an address that is not verified to be of one of the domains */
function throwUnlessOfDomain({ email, email_verified }: Claims, domains: readonly string[]): void {
  if (domains.length === 0) return
  const domain = textOf(email)?.split('@').at(-1)?.toLowerCase()
  const isOne = email_verified === true && domains.some((one) => one.toLowerCase() === domain)
  if (!isOne) throw new RefusedChange('Only verified email addresses of allowed domains can sign in', 403)
}

/** A new id: what the provider calls the user, or the first part of the email; `-2` and so on when it is taken. */
function newId({ users }: DirectoryState, claims: Claims, isTaken: (id: string) => boolean): string {
  const name = textOf(claims.preferred_username) ?? textOf(claims.email) ?? claims.sub
  const slug = (name.split('@')[0] as string)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 100)
  const base = slug === '' ? 'user' : slug
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`
    if (!users.has(id) && !isTaken(id)) return id
  }
}

/**
 * The user that a sign-in is of, made when he is new, and the grants of his groups, which replace those of the last
 * sign-in; what was granted by hand stays.
 * @param isTaken ids of users that are not in the directory
 * @throws RefusedChange 403 with a line for whoever wanted to sign in
 */
export function signedIn(
  state: DirectoryState,
  claims: Claims,
  settings: PeopleSettings,
  now: number,
  isTaken: (id: string) => boolean = () => false,
): { userId: string; changes: Change[] } {
  throwUnlessOfDomain(claims, settings.oidcDomains)
  const groups = groupsOf(claims, settings.oidcGroupsClaim)
  const listed = settings.oidcRoles.flatMap((text) => groupGrantIn(text) ?? [])
  const grants = groups.flatMap((name) => [
    ...listed.filter(({ group }) => group === name).map(({ grant }) => grant),
    ...(state.groups.get(name)?.grants ?? []),
  ])
  const known = [...state.users].find(([, { identity }]) => identity?.iss === claims.iss && identity.sub === claims.sub)
  if (known !== undefined && state.off.has(known[0])) throw new RefusedChange('This user is deactivated', 403)
  if (grants.length === 0) {
    const fallback = grantIn(settings.oidcDefaultRole)
    // A user with a grant that was given by hand needs no group.
    if (fallback !== undefined) grants.push(fallback)
    else if (known === undefined || !state.grants.has(known[0]))
      throw new RefusedChange(
        `None of your groups has access: ${groups.length === 0 ? 'none came' : groups.slice(0, 20).join(', ')}`,
        403,
      )
  }
  const userId = known?.[0] ?? newId(state, claims, isTaken)
  const [name, email] = [textOf(claims.name)?.slice(0, 200), textOf(claims.email)?.slice(0, 320)]
  const scope = grants[0]?.scope ?? '*'
  const user: UserValue = {
    kind: 'person',
    entity: known?.[1].entity ?? (scope === '*' ? userId : (scope.split('/')[0] as string)),
    identity: { iss: claims.iss, sub: claims.sub },
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
  }
  const isSame = known !== undefined && JSON.stringify({ ...known[1] }) === JSON.stringify({ ...known[1], ...user })
  const unique = [...new Map(grants.map((one) => [`${one.role}@${one.scope}`, one])).values()].slice(0, 100)
  const ends_at = new Date(now + settings.oidcGrantDays * 86_400_000).toISOString()
  return {
    userId,
    changes: [
      ...(isSame ? [] : [{ key: itemKey('user', userId), value: { ...known?.[1], ...user } }]),
      { key: itemKey('signed-in', userId), value: { grants: unique, ends_at } },
    ],
  }
}
