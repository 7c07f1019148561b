// Buckets of time under the pointer or the arrow keys: one that is read, several that are taken as a range.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from 'react'

type TimeBrushProps = {
  label: string
  /** Number of buckets. */
  size: number
  /** The bucket that is read, and what is said of it; without one of the whole. */
  at: number | undefined
  told: string
  onAt(at: number | undefined): void
  /** First and last bucket, in either order. */
  onTake(from: number, to: number): void
  children: ReactNode
}

export function TimeBrush({ label, size, at, told, onAt, onTake, children }: TimeBrushProps) {
  const box = useRef<HTMLDivElement>(null)
  const [brush, setBrush] = useState<{ from: number; to: number }>()
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = (box.current as HTMLDivElement).getBoundingClientRect()
    return Math.max(0, Math.min(size - 1, Math.floor(((event.clientX - left) / width) * size)))
  }
  const take = (from: number, to: number) => {
    setBrush(undefined)
    onAt(undefined)
    onTake(from, to)
  }
  /** Goes on from the bucket at hand; from none to the first or the last. */
  const move = (event: KeyboardEvent, step: 1 | -1) => {
    if (size === 0) return
    event.preventDefault()
    const next = Math.max(0, Math.min(size - 1, (at ?? (step > 0 ? -1 : size)) + step))
    onAt(next)
    setBrush({ from: event.shiftKey ? (brush?.from ?? at ?? next) : next, to: next })
  }
  const keys: Record<string, (event: KeyboardEvent) => void> = {
    ArrowRight: (event) => move(event, 1),
    ArrowLeft: (event) => move(event, -1),
    Enter(event) {
      if (brush === undefined) return
      event.preventDefault()
      take(brush.from, brush.to)
    },
    Escape: () => setBrush(undefined),
  }
  const percent = (n: number): string => `${(n / Math.max(1, size)) * 100}%`
  return (
    <div
      ref={box}
      className="time-brush"
      role="slider"
      tabIndex={0}
      aria-label={`${label}: arrows move, Shift extends, Enter applies the range`}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, size - 1)}
      aria-valuenow={at ?? brush?.to ?? 0}
      aria-valuetext={told}
      onKeyDown={(event) => keys[event.key]?.(event)}
      onBlur={() => setBrush(undefined)}
      onPointerDown={(event) => {
        if (event.button !== 0 || size === 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        const from = bucketAt(event)
        setBrush({ from, to: from })
      }}
      onPointerMove={(event) => {
        if (size === 0) return
        const to = bucketAt(event)
        onAt(to)
        if (brush && event.buttons === 1) setBrush({ ...brush, to })
      }}
      onPointerLeave={() => onAt(undefined)}
      onPointerUp={(event) => brush && take(brush.from, bucketAt(event))}
      onPointerCancel={() => setBrush(undefined)}
    >
      {children}
      {brush && (
        <span
          className="brush"
          style={{ left: percent(Math.min(brush.from, brush.to)), width: percent(Math.abs(brush.to - brush.from) + 1) }}
        />
      )}
    </div>
  )
}
