// Actions, the six roles that hold them, and scopes: what keys and grants are made of.
import type { ProjectId } from '../ids.ts'

/** Actions that a grant or a key allows. `metrics` counts on the scope `*` only. */
export const actions = [
  ...(['read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin', 'owner', 'metrics'] as const),
] as const
export type Action = (typeof actions)[number]

const writes = ['read', 'ingest', 'annotate', 'write', 'delete', 'infer'] as const

/** Roles are code, only grants are data: a key's list of actions is the fine control. */
const actionsOfRole = {
  reader: ['read'],
  annotator: ['read', 'annotate'],
  ingest: ['ingest'],
  writer: writes,
  admin: [...writes, 'admin'],
  owner: [...writes, 'admin', 'owner', 'metrics'],
} as const satisfies Record<string, readonly Action[]>

export type Role = keyof typeof actionsOfRole
export const roles = Object.keys(actionsOfRole) as Role[]

/** Names of roles in keys of earlier versions, and in commands that people remember. */
const earlierNames = { read: 'reader', write: 'writer' } as const
export const roleNames = [...roles, ...(Object.keys(earlierNames) as (keyof typeof earlierNames)[])] as const
export type RoleName = (typeof roleNames)[number]

export const roleNamed = (name: RoleName): Role =>
  name in earlierNames ? earlierNames[name as 'read'] : (name as Role)

/** `*` = everything, `acme` = an entity with all its projects, `acme/app` = one project. */
export type Scope = string

const scopeForm = /^(?:\*|[^/*\s]+(?:\/[^/\s]+)?)$/
export const isScope = (text: string): boolean => scopeForm.test(text)

/** Whether a scope contains another, or is the same. */
const contains = (wide: Scope, narrow: Scope): boolean =>
  wide === '*' || wide === narrow || narrow.startsWith(`${wide}/`)

/** Actions that a role allows on a scope. */
export const actionsOf = (role: Role, scope: Scope): readonly Action[] =>
  (actionsOfRole[role] as readonly Action[]).filter((action) => action !== 'metrics' || scope === '*')

/** Actions by scope: those of wider scopes count on narrower ones as well. */
export type Access = Readonly<Record<Scope, readonly Action[]>>

/** Actions that an access allows on exactly this scope; any text may be one, `__proto__` too. */
export const actionsOn = (access: Access, scope: Scope): readonly Action[] =>
  Object.hasOwn(access, scope) ? (access[scope] ?? []) : []

/** The access that both allow: the actions in both, on the narrower of each two scopes. */
export function intersect(a: Access, b: Access): Access {
  const both = new Map<Scope, Action[]>()
  for (const [scopeA, actionsA] of Object.entries(a))
    for (const [scopeB, actionsB] of Object.entries(b)) {
      const scope = contains(scopeA, scopeB) ? scopeB : contains(scopeB, scopeA) ? scopeA : undefined
      if (scope === undefined) continue
      const allowed = actionsA.filter((action) => actionsB.includes(action))
      const before = both.get(scope) ?? []
      both.set(scope, [...before, ...allowed.filter((action) => !before.includes(action))])
    }
  return Object.fromEntries([...both].filter(([, allowed]) => allowed.length > 0))
}

/** Whether one allows all that the other does. */
export function isWithin(wanted: Access, held: Access): boolean {
  const both = intersect(wanted, held)
  return Object.entries(wanted).every(([scope, all]) => all.every((one) => actionsOn(both, scope).includes(one)))
}

/** Whether an access allows an action on the whole of a scope. */
export const allowsOn = (access: Access, action: Action, scope: Scope): boolean =>
  Object.entries(access).some(([wide, held]) => held.includes(action) && contains(wide, scope))

/**
 * The right that a route needs: `none` = no key at all, `any` = a key or session of whatever role, an action, any of a
 * list, or all of one.
 */
export type Right = 'none' | 'any' | Action
export type NeededRight = Right | readonly Right[] | { readonly all: readonly Right[] }

const bitOf = Object.fromEntries((['any', ...actions] as const).map((right, index) => [right, 1 << index])) as Record<
  Exclude<Right, 'none'>,
  number
>
const bitsOf = (held: readonly Action[]): number => held.reduce((bits, action) => bits | bitOf[action], bitOf.any)

const isOne = (bits: number, right: Right): boolean => right === 'none' || (bits & bitOf[right]) !== 0

function isHeld(bits: number, needed: NeededRight): boolean {
  if (typeof needed === 'string') return isOne(bits, needed)
  return 'all' in needed ? needed.all.every((right) => isOne(bits, right)) : needed.some((right) => isOne(bits, right))
}

/** A right as a refusal names it: `annotate or write`. */
export const rightText = (needed: NeededRight): string => {
  if (typeof needed === 'string') return needed
  return 'all' in needed ? needed.all.join(' and ') : needed.join(' or ')
}

type Checks = {
  holds(needed: NeededRight): boolean
  may(needed: NeededRight, projectId: ProjectId): boolean
  /** The one project that is all the access opens; undefined where it is not one. */
  onlyProject: ProjectId | undefined
}

function newChecks(access: Access): Checks {
  const byScope = new Map(Object.entries(access).map(([scope, held]) => [scope, bitsOf(held)]))
  const everywhere = byScope.get('*') ?? 0
  const anywhere = [...byScope.values()].reduce((all, bits) => all | bits, bitOf.any)
  const [scope, ...others] = byScope.keys()
  return {
    onlyProject: others.length === 0 && scope?.includes('/') ? (scope as ProjectId) : undefined,
    holds: (needed) => isHeld(anywhere, needed),
    may(needed, projectId) {
      if (byScope.size === 1 && everywhere !== 0) return isHeld(everywhere, needed)
      const ofEntity = byScope.get(projectId.slice(0, projectId.indexOf('/'))) ?? 0
      return isHeld(everywhere | ofEntity | (byScope.get(projectId) ?? 0), needed)
    },
  }
}

const checks = new WeakMap<Access, Checks>()

/** The checks of an access, ready for every request: the same for keys that share it. */
export function checksOf(access: Access): Checks {
  const known = checks.get(access) ?? newChecks(access)
  checks.set(access, known)
  return known
}

/** The role whose actions an access has on its widest scope, as the page shows it. */
export function roleOf(access: Access): Role | undefined {
  const held = new Set(Object.values(access).flat())
  const widestFirst: Role[] = ['owner', 'admin', 'writer', 'annotator', 'reader', 'ingest']
  return widestFirst.find((role) => actionsOfRole[role].every((action) => action === 'metrics' || held.has(action)))
}
