// A directory whose changes are audited: each is recorded before it is made, with what it changes and nothing that is secret.
import type { Audit } from '../audit/audit.ts'
import { audited } from '../audit/audited.ts'
import type { AuditEvent } from '../audit/chain.ts'
import type { Change, Directory } from './directory.ts'
import { type KeyValue, type Kind, type UserValue, type Value, wordsOf } from './items.ts'
import type { Scope } from './roles.ts'
import { type DirectoryState, keyEndOf } from './state.ts'

type Changed<Of extends Kind> = {
  state: DirectoryState
  /** The user who makes the change. */
  by: string
  id: string
  rest: string
  /** null = removed, or not there. */
  before: Value<Of> | null
  after: Value<Of> | null
}

/** The narrowest scope that contains all of them. */
function commonScope(scopes: readonly Scope[]): Scope {
  const [first = '*'] = scopes
  if (scopes.every((scope) => scope === first)) return first
  const entities = new Set(scopes.map((scope) => scope.split('/')[0] as string))
  return entities.size === 1 ? (first.split('/')[0] as string) : '*'
}

const entityOf = ({ users }: DirectoryState, id: string): Scope => users.get(id)?.entity ?? '*'
const scopeOf = (entity: string, project: string): Scope => (project === '' ? entity : `${entity}/${project}`)

/** Whether it came, changed or went. */
const verbOf = <T>(before: T | null, after: T | null): string =>
  after === null ? 'removed' : before === null ? 'created' : 'changed'

/** The parts of a key that are no secret. */
const ofKey = ({ user, name, actions, scopes, expires_at, addresses, limits }: KeyValue) => ({
  user,
  name,
  actions,
  scopes,
  expires_at,
  addresses,
  limits,
})

function keyEvent(action: string, state: DirectoryState, id: string, more: object = {}): AuditEvent[] {
  const key = state.keys.get(id)
  return [{ action, scope: commonScope(key?.scopes ?? []), target: id, details: { user: key?.user, ...more } }]
}

/** An event per member that differs: `limits.changed`, `retention.changed`. */
function settingEvents(scope: Scope, before: object | null, after: object | null): AuditEvent[] {
  const [old, now] = [before ?? {}, after ?? {}] as Record<string, unknown>[]
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])
  return [...names]
    .filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(now?.[name]))
    .map((name) => ({
      action: `${name}.changed`,
      scope,
      target: scope,
      details: { before: old?.[name] ?? null, after: now?.[name] ?? null },
    }))
}

function withoutSalt(value: Value<'mask'> | null): unknown {
  if (value === null) return null
  const { salt: _, ...rules } = value
  return rules
}

/** Emails and names are not kept: they could not be erased. */
const ofUser = (value: UserValue | null) => value && { kind: value.kind, entity: value.entity }

/** Audit events of a change, by the kind of its item. */
const described: { [Of in Kind]: (changed: Changed<Of>) => AuditEvent[] } = {
  user: ({ id, before, after }) => [
    {
      action: `user.${verbOf(before, after)}`,
      scope: (after ?? before)?.entity ?? '*',
      target: id,
      details: { ...ofUser(after ?? before) },
    },
  ],
  'user-off': ({ state, id, after }) => [
    { action: after === null ? 'user.on' : 'user.off', scope: entityOf(state, id), target: id },
  ],
  grant: ({ id, rest, before, after }) => [
    {
      action: after === null ? 'grant.removed' : 'grant.set',
      scope: rest,
      target: id,
      details: { before: before?.role ?? null, after: after?.role ?? null },
    },
  ],
  'signed-in': ({ state, id, after }) =>
    after === null
      ? [{ action: 'grant.removed', scope: entityOf(state, id), target: id, details: { by: 'sign-in' } }]
      : [
          {
            action: 'auth.signed_in',
            scope: entityOf(state, id),
            target: id,
            actor: id,
            details: { with: 'provider', grants: after.grants.map(({ role, scope }) => `${role}@${scope}`) },
          },
        ],
  group: ({ id, after }) => [
    {
      action: after === null ? 'group.removed' : 'group.set',
      scope: '*',
      target: id,
      details: { grants: after?.grants.map(({ role, scope }) => `${role}@${scope}`) },
    },
  ],
  key: ({ id, before, after }) => {
    const key = after ?? before
    if (key === null) return []
    const verb = verbOf(before, after)
    return [{ action: `key.${verb}`, scope: commonScope(key.scopes), target: id, details: ofKey(key) }]
  },
  'key-end': ({ state, id, after }) =>
    after === null ? [] : keyEvent('key.rotated', state, id, { successor: after.successor, ends_at: after.ends_at }),
  'key-limits': ({ state, id, before, after }) => {
    const key = state.keys.get(id)
    const details = { before: before ?? key?.limits ?? null, after }
    return [{ action: 'limits.changed', scope: commonScope(key?.scopes ?? []), target: id, details }]
  },
  // Nobody's change.
  'key-used': () => [],
  'key-revoked': ({ state, id, after }) => (after === null ? [] : keyEvent('key.revoked', state, id)),
  // Ends that are taken out again are those of sessions that have run out.
  'session-end': ({ state, by, after }) =>
    after === null ? [] : [{ action: 'session.ended', scope: entityOf(state, by), target: by }],
  'sessions-end': ({ state, id, after }) =>
    after === null
      ? []
      : [{ action: 'session.ended', scope: entityOf(state, id), target: id, details: { sessions: 'all' } }],
  entity: ({ id, before, after }) => settingEvents(id, before, after),
  project: ({ id, rest, before, after }) => settingEvents(scopeOf(id, rest), before, after),
  'project-removed': ({ id, rest }) => {
    const scope = scopeOf(id, rest)
    return [{ action: 'project.removed', scope, target: scope }]
  },
  mask: ({ id, rest, before, after }) => [
    {
      action: 'masking.changed',
      scope: scopeOf(id, rest),
      target: scopeOf(id, rest),
      details: { before: withoutSalt(before), after: withoutSalt(after) },
    },
  ],
  secret: ({ id, rest, before, after }) => {
    const slash = rest.lastIndexOf('/')
    const scope = scopeOf(id, rest.slice(0, Math.max(slash, 0)))
    const action = after === null ? 'secret.removed' : after.is_rotated ? 'secret.rotated' : 'secret.set'
    const details = { version: (after ?? before)?.version }
    return [{ action, scope, target: rest.slice(slash + 1), details }]
  },
  hold: ({ id, before, after }) => [
    {
      action: `hold.${verbOf(before, after)}`,
      scope: (after ?? before)?.scope ?? '*',
      target: id,
      details: { until: (after ?? before)?.until },
    },
  ],
}

/** Keys whose end came within a time; what was revoked before is none of them. */
export function expiredKeyEvents(state: DirectoryState, fromMs: number, toMs: number): AuditEvent[] {
  return [...state.keys].flatMap(([id, key]) => {
    const endsAt = keyEndOf(state, id, key)
    const endsMs = Date.parse(endsAt ?? '')
    if (state.revoked.has(id) || !(endsMs > fromMs && endsMs <= toMs)) return []
    return keyEvent('key.expired', state, id, { ends_at: endsAt })
  })
}

/** Audit events of changes; those of the same append know of one another. */
export function auditEventsOf(state: DirectoryState, changes: readonly Change[], by: string): AuditEvent[] {
  const made: Pick<DirectoryState, 'keys' | 'users'> = { keys: new Map(state.keys), users: new Map(state.users) }
  const later = { ...state, ...made }
  return changes.flatMap(({ key, value }) => {
    const words = wordsOf(key)
    if (words === undefined) return [{ action: 'item.changed', scope: '*', target: key, actor: by }]
    const { kind, id, rest } = words
    const before = (state.items.get(key)?.value ?? null) as never
    const after = value as never
    if (value === null && before === null) return []
    const events = described[kind]({ state: later, by, id, rest, before, after } as never)
    if (kind === 'key' && after !== null) made.keys.set(id, after)
    if (kind === 'user' && after !== null) made.users.set(id, after)
    return events.map((event) => ({ actor: by, ...event }))
  })
}

/** The same directory: nothing changes in it that is not recorded first. */
export const auditedDirectory = <Of extends Directory>(directory: Of, audit: Audit): Of => ({
  ...directory,
  append: (changes: readonly Change[], by: string) =>
    audited(audit, auditEventsOf(directory.state(), changes, by), () => directory.append(changes, by)),
})
