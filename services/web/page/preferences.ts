// Taste alone, kept in the browser: everything that decides what is on screen is in the address.
import { useSyncExternalStore } from 'react'
import { scaled } from './text-scale.ts'

export const choices = {
  theme: ['system', 'light', 'dark'],
  density: ['normal', 'compact', 'roomy'],
  zone: ['local', 'UTC'],
  wrap: ['on', 'off'],
  markdown: ['off', 'on'],
  letterKeys: ['on', 'off'],
  rail: ['words', 'icons'],
} as const
export type Preference = keyof typeof choices
type Value<Name extends Preference> = (typeof choices)[Name][number]

const listeners = new Set<() => void>()
const keyOf = (name: Preference): string => `callhouse.${name}`

export function preference<Name extends Preference>(name: Name): Value<Name> {
  let stored: string | null = null
  try {
    stored = localStorage.getItem(keyOf(name))
  } catch {
    // Storage may be closed to the page.
  }
  const known: readonly string[] = choices[name]
  return (stored !== null && known.includes(stored) ? stored : known[0]) as Value<Name>
}

export function setPreference<Name extends Preference>(name: Name, value: Value<Name>): void {
  try {
    localStorage.setItem(keyOf(name), value)
  } catch {
    // Then it lasts as long as the page.
  }
  applyPreferences()
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const usePreference = <Name extends Preference>(name: Name): Value<Name> =>
  useSyncExternalStore(subscribe, () => preference(name))

const dark = matchMedia('(prefers-color-scheme: dark)')

export function applyPreferences(): void {
  const theme = preference('theme')
  const { dataset } = document.documentElement
  dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
  dataset.density = preference('density')
}

dark.addEventListener('change', () => {
  applyPreferences()
  for (const listener of listeners) listener()
})

const { Temporal } = globalThis as { Temporal?: { Now: { timeZoneId(): string } } }
let knownZone: string | undefined
/** Reads the zone when it is shown: its first use takes as long as reading all the code of the page. */
export function localZone(): string {
  knownZone ??= Temporal?.Now.timeZoneId() ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  return knownZone
}
/** The zone of the page: of the address, else the reader's choice. */
export function zoneOf(fromAddress: string | undefined, chosen: Value<'zone'> = preference('zone')): string {
  if (fromAddress !== undefined) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: fromAddress })
      return fromAddress
    } catch {
      // An address may say anything.
    }
  }
  return chosen === 'UTC' ? 'UTC' : localZone()
}
export const useZone = (fromAddress: string | undefined): string => zoneOf(fromAddress, usePreference('zone'))

const rowHeights = { normal: 28, compact: 24, roomy: 36 } as const
export const useRowHeight = (): number => scaled(rowHeights[usePreference('density')])
