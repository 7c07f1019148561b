// The actions of keys in the words of the page, and the roles that they make up.
import type { Shapes } from '../routes.gen.ts'

export type Action = Shapes['keys.create']['in']['actions'][number]
export type Role = NonNullable<Shapes['grants.set']['in']['role']>

export const actions: Record<Action, string> = {
  read: 'query and list everything',
  ingest: 'send calls, objects and files',
  annotate: 'give feedback, label in queues',
  write: 'change names, tags and versions, run evaluations',
  delete: 'delete calls, objects and queues',
  infer: 'run models (costs money at providers)',
  admin: 'manage users, keys, prices and settings',
  owner: 'all permissions',
  metrics: '/metrics of the server, on * only',
}

const writes = ['read', 'ingest', 'annotate', 'write', 'delete', 'infer'] as const

export const actionsOfRole: Record<Role, readonly Action[]> = {
  reader: ['read'],
  annotator: ['read', 'annotate'],
  ingest: ['ingest'],
  writer: writes,
  admin: [...writes, 'admin'],
  owner: [...writes, 'admin', 'owner', 'metrics'],
}
export const roles = Object.keys(actionsOfRole) as Role[]

export const roleHelp: Record<Role, string> = {
  reader: 'Read only',
  annotator: 'Read and give feedback',
  ingest: 'Send calls, no reading',
  writer: 'Read, send, change and delete',
  admin: 'Write, and manage users and settings',
  owner: 'All permissions',
}

/** The role whose actions these are; `metrics` counts on everything only. */
export function roleOf(held: readonly Action[]): Role | undefined {
  const of = (list: readonly Action[]) =>
    list
      .filter((action) => action !== 'metrics')
      .sort()
      .join()
  return held.length === 0 ? undefined : roles.find((role) => of(actionsOfRole[role]) === of(held))
}

/** Whether a scope is another or lies in it. */
export const contains = (wide: string, narrow: string): boolean =>
  wide === '*' || wide === narrow || narrow.startsWith(`${wide}/`)

type Grants = readonly { scope: string; role: Role }[]

const granted = (grants: Grants, scope: string) => grants.filter((one) => contains(one.scope, scope))

/** The given actions that no role holds, on the first scope where any is lacking; undefined where all are held. */
export function lackingOf(grants: Grants, held: readonly Action[], scopes: readonly string[]) {
  for (const scope of scopes) {
    const found = granted(grants, scope)
    const lacking = held.filter((action) => !found.some(({ role }) => actionsOfRole[role].includes(action)))
    if (lacking.length > 0) return { scope, lacking, roles: found.map(({ role }) => role) }
  }
  return undefined
}

/**
 * The actions for a key of somebody: all that the roles hold on the scopes; where they hold nothing there, on their
 * own.
 */
export function fitting(grants: Grants, scopes: readonly string[]): { held: readonly Action[]; scopes: string[] } {
  const all = Object.keys(actions) as Action[]
  const held = all.filter((action) => lackingOf(grants, [action], scopes) === undefined)
  if (scopes.length > 0 && held.length > 0) return { held, scopes: [...scopes] }
  const [first] = grants
  return first === undefined
    ? { held: [], scopes: [...scopes] }
    : { held: actionsOfRole[first.role], scopes: [first.scope] }
}
