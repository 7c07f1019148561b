// A menu below its button, by the browser's popover: Escape and a click elsewhere close it.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { isTyping } from '../keys.ts'

type MenuProps = {
  label: string
  button: ReactNode
  className?: string
  children(close: () => void): ReactNode
  id?: string
}

const itemsOf = (panel: HTMLElement | null): HTMLElement[] => [
  ...(panel?.querySelectorAll<HTMLElement>('button:enabled, a[href], input, select') ?? []),
]

/** Arrows, Home and End lead from item to item, also out of a line of text; what is typed goes into the line, if there is one. */
function onMenuKey(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsOf(event.currentTarget)
  const at = items.indexOf(document.activeElement as HTMLElement)
  const isText = isTyping(event.target)
  const to: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at < 0 ? -1 : at - 1,
    ...(!isText && { Home: 0, End: -1 }),
  }
  const next = (event.target as HTMLElement).tagName === 'SELECT' ? undefined : to[event.key]
  if (next !== undefined) {
    items.at(next % items.length)?.focus()
    event.preventDefault()
    event.stopPropagation()
    return
  }
  if (isText || event.key.length !== 1 || event.key === ' ' || event.ctrlKey || event.metaKey || event.altKey) return
  const line = event.currentTarget.querySelector<HTMLElement>('input:not([type=checkbox], [type=radio])')
  if (line === null) return
  line.focus()
  // Else a letter that is a key of the page would do that, and be missing in the line.
  event.stopPropagation()
}

export function Menu({ label, button, className = '', children, id }: MenuProps) {
  const key = useId()
  const [open, setOpen] = useState(false)
  const panel = useRef<HTMLDivElement>(null)
  const anchor = useRef<HTMLButtonElement>(null)
  const place = () => {
    const box = panel.current
    const at = anchor.current?.getBoundingClientRect()
    if (!box || !at) return
    const below = at.bottom + 4 + box.offsetHeight <= innerHeight
    box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`
    box.style.top = below ? `${at.bottom + 4}px` : `${Math.max(8, at.top - box.offsetHeight - 4)}px`
  }
  useEffect(() => {
    const box = panel.current
    if (!open || box === null || box.contains(document.activeElement)) return
    const chosen = box.querySelector<HTMLElement>('[aria-pressed=true], [aria-checked=true]')
    ;(chosen ?? itemsOf(box)[0])?.focus()
  }, [open])
  // Again when what it shows has arrived.
  useEffect(() => {
    if (!open || panel.current === null) return
    const observer = new ResizeObserver(place)
    observer.observe(panel.current)
    return () => observer.disconnect()
  })
  return (
    <>
      <button
        ref={anchor}
        id={id}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="true"
        aria-expanded={open}
        popoverTarget={key}
      >
        {button}
      </button>
      <div
        ref={panel}
        id={key}
        popover="auto"
        className="menu"
        onKeyDown={onMenuKey}
        onToggle={(event) => setOpen((event.nativeEvent as ToggleEvent).newState === 'open')}
      >
        {open && children(() => panel.current?.hidePopover())}
      </div>
    </>
  )
}
