// The dialogs of every page, the palette and the sheet of keys: one of them is open, or none.

/** `here` is the project that is open. */
type Opened = { name: 'palette'; here: { entity: string; project: string } | undefined } | { name: 'keys' }

let opened: Opened | undefined
const listeners = new Set<() => void>()

function change(to: Opened | undefined): void {
  opened = to
  for (const listener of listeners) listener()
}

export const openPalette = (here: { entity: string; project: string } | undefined): void =>
  change({ name: 'palette', here })
export const openKeySheet = (): void => change({ name: 'keys' })
export const closeDialogs = (): void => change(undefined)

export const openedDialog = (): Opened | undefined => opened
export const whenDialogChanges = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
