// What keys may do, in the words of the page: actions and the roles that they make up.
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
