// The sections of the settings, and for whom each is: what links lead to, before their pages are loaded.
import { mayAdminister, mayRead, type Session } from '../api/session.ts'
import type { IconName } from './icon.tsx'

export const groups = ['Account', 'People', 'Server', 'Project'] as const

type Section = {
  id: string
  label: string
  icon: IconName
  group: (typeof groups)[number]
  isFor(session: Session | undefined): boolean
}

const everybody = () => true

export const sections = [
  { id: 'you', label: 'You', icon: 'person', group: 'Account', isFor: everybody },
  { id: 'keys', label: 'Keys', icon: 'key', group: 'Account', isFor: everybody },
  { id: 'users', label: 'Users', icon: 'people', group: 'People', isFor: mayAdminister },
  { id: 'audit', label: 'Audit log', icon: 'clock', group: 'People', isFor: mayAdminister },
  { id: 'system', label: 'System', icon: 'pulse', group: 'Server', isFor: mayAdminister },
  { id: 'limits', label: 'Limits and usage', icon: 'gauge', group: 'Project', isFor: mayAdminister },
  { id: 'prices', label: 'Prices', icon: 'price', group: 'Project', isFor: mayRead },
  { id: 'retention', label: 'Retention', icon: 'wait', group: 'Project', isFor: mayAdminister },
  { id: 'masking', label: 'Masking', icon: 'guardrail', group: 'Project', isFor: mayAdminister },
  { id: 'providers', label: 'Providers', icon: 'play', group: 'Project', isFor: mayRead },
  { id: 'secrets', label: 'Secrets', icon: 'lock', group: 'Project', isFor: mayAdminister },
] as const satisfies readonly Section[]

export type SectionId = (typeof sections)[number]['id']

/** Path of a section; the page of the system has a path of its own. */
export const placeOf = (id: SectionId) =>
  id === 'system' ? ({ to: '/system' } as const) : ({ to: '/settings/$section', params: { section: id } } as const)
