// The actions of keys in the words of the page, and the roles that they make up.
import type { Shapes } from '../api/routes.gen.ts'

export type Action = Shapes['keys.create']['in']['actions'][number]
export type Role = NonNullable<Shapes['grants.set']['in']['role']>

export const actions: Record<Action, string> = {
  read: 'every query and list',
  ingest: 'sends calls, objects and files',
  annotate: 'feedback and queues',
  write: 'names, tags, versions, evaluations',
  delete: 'calls, objects, queues',
  infer: 'spends money at providers',
  admin: 'people, keys, prices, settings',
  owner: 'everything that is left',
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
  reader: 'Reads',
  annotator: 'Reads, and gives feedback',
  ingest: 'Sends calls, and reads nothing',
  writer: 'Reads, sends, changes and deletes',
  admin: 'Writes, and administers people and settings',
  owner: 'May do everything',
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
