// Keys of the page: what the table names, while a component is there that handles it.
import { useEffect, useRef } from 'react'
import { sequences } from './engine/key-sequences.ts'
import { type KeyPlace, takesText } from './engine/list-keys.ts'
import { type KeyName, keyTable } from './key-table.ts'
import { preference } from './preferences.ts'

export type Handlers = { [Name in KeyName]?: () => void }

/** Whether keys that are pressed there are text, or for a form that lies over the page. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    takesText(target.tagName, target instanceof HTMLInputElement ? target.type : undefined) ||
    (target instanceof HTMLInputElement && target.closest('dialog, [popover]') !== null))

/** Parts that move by keys of their own. */
const withKeys = '.rows, [role=tree], [role=listbox], [role=menu], [role=slider], [role=separator], [role=grid], canvas'

/** The place where a key is pressed, as the list of the page asks (engine/list-keys.ts). */
export function placeOfKey(target: EventTarget | null): KeyPlace {
  if (document.querySelector('dialog[open], :popover-open') !== null) return 'overlay'
  if (!(target instanceof HTMLElement) || target === document.body || target.matches('.stage')) return 'nothing'
  if (isTyping(target)) return 'text'
  return target.closest(withKeys) === null ? 'control' : 'list'
}

function keyOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? 'Mod+' : ''
  return mod + (mod ? event.key.toLowerCase() : event.key)
}

const modifiers = new Set(['Shift', 'Control', 'Alt', 'Meta', 'AltGraph'])
const ofText = new Set(['Mod+a', 'Mod+z', 'Mod+y'])

/** Text that is typed takes letters, and has an "all" and an "undo" of its own. */
const isOff = (key: string, isLetter: boolean, target: EventTarget | null): boolean =>
  ((isLetter || ofText.has(key)) && isTyping(target)) || (isLetter && preference('letterKeys') === 'off')

const nextKey = sequences(Object.values(keyTable).flatMap(({ keys }) => keys))
const listening = new Set<{ current: Handlers }>()

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || modifiers.has(event.key)) return
  const key = keyOf(event)
  if (isOff(key, !key.startsWith('Mod+'), event.target)) return
  const typed = nextKey(key, event.timeStamp)
  for (const { current } of listening)
    for (const [name, handle] of Object.entries(current)) {
      const { keys } = keyTable[name as KeyName]
      if (!handle || !(keys as readonly string[]).includes(typed)) continue
      event.preventDefault()
      handle()
      return
    }
}

/** Takes keys while the component is there. Single letters count only where nobody types, and can be switched off. */
export function useKeys(handlers: Handlers): void {
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    if (listening.size === 0) document.addEventListener('keydown', onKey)
    listening.add(latest)
    return () => {
      listening.delete(latest)
      if (listening.size === 0) document.removeEventListener('keydown', onKey)
    }
  }, [])
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
export const shownKey = (key: string): string[] =>
  key.split(' ').map((one) => one.replace('Mod+', isMac ? '⌘' : 'Ctrl ').replace(/^Arrow/, ''))
