// Dialogs that open on every page, and stay open when the page below them changes: the palette and the sheet of keys.
import { useSyncExternalStore } from 'react'
import type { Here } from './found.ts'
import { KeySheet } from './key-sheet.tsx'
import { Palette } from './palette.tsx'

/** `here` is the project that is open. */
type Opened = { name: 'palette'; here: Here | undefined } | { name: 'keys' }

let opened: Opened | undefined
const listeners = new Set<() => void>()

function change(to: Opened | undefined): void {
  opened = to
  for (const listener of listeners) listener()
}

export const openPalette = (here: Here | undefined): void => change({ name: 'palette', here })
export const openKeySheet = (): void => change({ name: 'keys' })
export const closeDialogs = (): void => change(undefined)

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Dialogs() {
  const shown = useSyncExternalStore(subscribe, () => opened)
  if (shown === undefined) return null
  return shown.name === 'palette' ? (
    <Palette here={shown.here} onClose={closeDialogs} />
  ) : (
    <KeySheet onClose={closeDialogs} />
  )
}
