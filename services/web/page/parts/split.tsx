// A list, and the reader of one part of it beside it. The border moves by drag or by arrow keys.
import { type PointerEvent, type ReactNode, useRef, useState } from 'react'
import './split.css'
import './reader.css'

const widthKey = 'callhouse.reader'

type SplitProps = {
  /** Label of the reader. */
  label: string
  /** Nothing where there is nothing to read. */
  reader: ReactNode
  /** Whether somebody asked for what is in the reader: in narrow windows it takes the whole place then. */
  isChosen: boolean
  children: ReactNode
}

export function Split({ label, reader, isChosen, children }: SplitProps) {
  const [width, setWidth] = useState(() => Number(localStorage.getItem(widthKey)) || 42)
  const box = useRef<HTMLDivElement>(null)
  const hasReader = Boolean(reader)
  const set = (share: number) => {
    const next = Math.min(60, Math.max(24, share))
    setWidth(next)
    localStorage.setItem(widthKey, String(next))
  }
  const drag = (event: PointerEvent<HTMLElement>) => {
    const bounds = box.current?.getBoundingClientRect()
    if (event.buttons !== 1 || !bounds) return
    set(((bounds.right - event.clientX) / bounds.width) * 100)
  }
  return (
    <div
      ref={box}
      className={`split${hasReader ? '' : ' alone'}${isChosen ? ' chosen' : ''}`}
      style={{ ['--reader' as string]: `${width}%` }}
    >
      <div className="left">{children}</div>
      {hasReader && (
        <aside className="reader" aria-label={label}>
          <div
            className="grip"
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the reader"
            aria-valuenow={Math.round(width)}
            aria-valuemin={24}
            aria-valuemax={60}
            tabIndex={0}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={drag}
            onKeyDown={(event) => {
              if (event.key === 'ArrowLeft') set(width + 2)
              else if (event.key === 'ArrowRight') set(width - 2)
            }}
          />
          {reader}
        </aside>
      )}
    </div>
  )
}
