// Items that go with a removed project: it stays closed, so that late data does not revive it.
import type { ProjectId } from '../ids.ts'
import type { Change } from './directory.ts'
import { scopedKey } from './items.ts'
import type { DirectoryState } from './state.ts'

/** Its settings, rules and secrets. Roles on it stay: who has them reads the receipt. */
export function projectRemoval(state: DirectoryState, projectId: ProjectId, nowMs: number): Change[] {
  const secrets = [...(state.secrets.get(projectId)?.keys() ?? [])].map((name) => scopedKey('secret', projectId, name))
  const gone = [...secrets, scopedKey('mask', projectId), scopedKey('project', projectId)]
  return [
    { key: scopedKey('project-removed', projectId), value: { at: new Date(nowMs).toISOString() } },
    ...gone.filter((key) => state.items.has(key)).map((key) => ({ key, value: null })),
  ]
}

/** Projects that were removed, with when in milliseconds. */
export const removalsOf = ({ removedProjects }: Pick<DirectoryState, 'removedProjects'>): ReadonlyMap<string, number> =>
  new Map([...removedProjects].map(([projectId, { at }]) => [projectId, Date.parse(at)]))
