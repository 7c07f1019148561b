// Dialogs that open on every page, and stay open when the page below them changes: the palette and the sheet of keys.
import { useSyncExternalStore } from 'react'
import { closeDialogs, openedDialog, whenDialogChanges } from '../parts/page-dialogs.ts'
import { KeySheet } from './key-sheet.tsx'
import { Palette } from './palette.tsx'

export function Dialogs() {
  const shown = useSyncExternalStore(whenDialogChanges, openedDialog)
  if (shown === undefined) return null
  return shown.name === 'palette' ? (
    <Palette here={shown.here} onClose={closeDialogs} />
  ) : (
    <KeySheet onClose={closeDialogs} />
  )
}
