// Keys of the page: what the table names, while a component is there that handles it.
import { useEffect, useRef } from 'react'
import { type KeyName, keyTable } from './key-table.ts'
import { preference } from './preferences.ts'

export type Handlers = { [Name in KeyName]?: () => void }

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

let pending = ''
let pendingTimer: ReturnType<typeof setTimeout> | undefined

function keyOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? 'Mod+' : ''
  return mod + (mod ? event.key.toLowerCase() : event.key)
}

const ofText = new Set(['Mod+a', 'Mod+z', 'Mod+y'])

/** Text that is typed takes letters, and has an "all" and an "undo" of its own. */
const isOff = (key: string, isLetter: boolean, target: EventTarget | null): boolean =>
  ((isLetter || ofText.has(key)) && isTyping(target)) || (isLetter && preference('letterKeys') === 'off')

/** Takes keys while the component is there. Single letters count only where nobody types, and can be switched off. */
export function useKeys(handlers: Handlers): void {
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return
      const key = keyOf(event)
      const isLetter = !key.startsWith('Mod+')
      if (isOff(key, isLetter, event.target)) return
      const typed = pending === '' ? key : `${pending} ${key}`
      for (const [name, handle] of Object.entries(latest.current)) {
        const { keys } = keyTable[name as KeyName]
        if (!handle || !(keys as readonly string[]).includes(typed)) continue
        event.preventDefault()
        handle()
        pending = ''
        return
      }
      if (key !== 'g' || !isLetter) return
      pending = 'g'
      clearTimeout(pendingTimer)
      pendingTimer = setTimeout(() => {
        pending = ''
      }, 1_000)
    }
    const onUp = () => {
      if (pending !== 'g') pending = ''
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('keyup', onUp)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('keyup', onUp)
    }
  }, [])
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
export const shownKey = (key: string): string[] =>
  key.split(' ').map((one) => one.replace('Mod+', isMac ? '⌘' : 'Ctrl ').replace(/^Arrow/, ''))
