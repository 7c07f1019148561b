// State of the directory that every thread keeps: rules of masking, retention of projects, holds, and sealed secrets.
import type { MaskSource, ScopeMask } from '../content/masking/maskings.ts'
import type { Directory } from '../core/directory/directory.ts'
import type { Hold } from '../core/directory/holds.ts'
import type { RetentionDays, RetentionSource } from '../core/directory/retention.ts'
import type { SharedRules } from '../core/threads/ports.ts'
import type { Config } from './config.ts'
import type { SealedSecrets } from './secrets.ts'

type Rules = {
  masks: [string, ScopeMask][]
  retentions: [string, RetentionDays][]
  removed: string[]
  holds: ReadonlyMap<string, Hold>
  secrets: SealedSecrets
}

type DefaultDays = Pick<Config, 'retentionDays' | 'logsDays'>
const defaultsOf = ({ retentionDays: defaultDays, logsDays }: DefaultDays) => ({ defaultDays, logsDays })

/** Retention by project, as it is in the directory now. */
export const retentionsOf = (directory: Pick<Directory, 'state'>, defaults: DefaultDays): RetentionSource => ({
  of: (projectId) => directory.state().projects.get(projectId)?.retention,
  projectIds: () => directory.state().projects.keys(),
  isRemoved: (projectId) => directory.state().removedProjects.has(projectId),
  ...defaultsOf(defaults),
})

/** @param masks of this process */
export function sharedRulesOf(directory: Directory, masks: MaskSource): SharedRules {
  let version = 0
  let lookedAt = -1
  let known = ''
  let rules: Rules = { masks: [], retentions: [], removed: [], holds: new Map(), secrets: new Map() }
  const read = (): void => {
    const { projects, removedProjects, holds, secrets } = directory.state()
    if (lookedAt === directory.version()) return
    lookedAt = directory.version()
    const retentions = [...projects].flatMap(([projectId, { retention }]) =>
      retention === undefined ? [] : [[projectId, retention] as [string, RetentionDays]],
    )
    const removed = [...removedProjects.keys()]
    // Most changes are of sessions and keys: threads keep what they have.
    const sealed = [...secrets].map(([scope, own]) => [scope, [...own]])
    const now = `${masks.version()} ${JSON.stringify([retentions, removed, [...holds], sealed])}`
    if (now === known) return
    known = now
    version++
    rules = { masks: [...masks.scopes()], retentions, removed, holds: new Map(holds), secrets }
  }
  return {
    async changedSince(seen) {
      read()
      return seen === version ? undefined : { version, rules }
    },
  }
}

/** The same in a thread, which asks for changes before each request. */
export function createFollowedRules(shared: SharedRules, defaults: DefaultDays) {
  let version = -1
  let scopes: ReadonlyMap<string, ScopeMask> = new Map()
  let retentions: ReadonlyMap<string, RetentionDays> = new Map()
  let removed: ReadonlySet<string> = new Set()
  let holds: Rules['holds'] = new Map()
  let secrets: SealedSecrets = new Map()
  const masks: MaskSource = { version: () => version, scopes: () => scopes }
  const retention: RetentionSource = {
    of: (projectId) => retentions.get(projectId),
    projectIds: () => retentions.keys(),
    isRemoved: (projectId) => removed.has(projectId),
    ...defaultsOf(defaults),
  }
  return {
    masks,
    retention,
    secrets: () => secrets,
    holds: () => holds,
    async follow(): Promise<void> {
      const changed = await shared.changedSince(version)
      if (changed === undefined) return
      const rules = changed.rules as Rules
      version = changed.version
      scopes = new Map(rules.masks)
      retentions = new Map(rules.retentions)
      removed = new Set(rules.removed)
      holds = rules.holds
      secrets = rules.secrets
    },
  }
}
