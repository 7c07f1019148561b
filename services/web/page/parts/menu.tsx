// A menu below its button, by the browser's popover: Escape and a click elsewhere close it.
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'

type MenuProps = {
  label: string
  button: ReactNode
  className?: string
  children(close: () => void): ReactNode
  id?: string
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
        onToggle={(event) => setOpen((event.nativeEvent as ToggleEvent).newState === 'open')}
      >
        {open && children(() => panel.current?.hidePopover())}
      </div>
    </>
  )
}
