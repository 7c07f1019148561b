// The one windowed list of the page: tables, trees and JSON of any length, rows of one height, the row at hand always there.
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useDeferredValue,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { isForList } from '../engine/list-keys.ts'
import { rowOfKey } from '../engine/lists.ts'
import { placeOfKey } from '../keys.ts'
import { preference } from '../preferences.ts'

/** Browsers clamp elements somewhere above 16 million pixels: from here on scroll positions are scaled. */
const maxPixels = 8_000_000
/** Rows beyond those in view, above and below. */
const overscan = 8

export type RowsHandle = { reveal(index: number): void; focus(): void; range(): [from: number, to: number] }

type RowsProps = {
  count: number
  height: number
  /** Row at hand; -1 for none. */
  at: number
  onAt(index: number): void
  render(index: number, isAt: boolean): ReactNode
  onRange?(from: number, to: number): void
  /** Keys beside those that move. True = handled. */
  onKey?(event: KeyboardEvent): boolean
  head?: ReactNode
  headHeight?: number
  label: string
  role?: 'table' | 'treegrid' | 'list' | 'tree'
  className?: string
  /** Grows to its lines and no further. */
  fits?: boolean
  handle?: Ref<RowsHandle>
  /** Whether it is the page's main list: it takes keys wherever nothing else does. */
  isMain?: boolean
  children?: ReactNode
}

/** Keys of the page are for its list, also before anything has the focus. */
function useMainKeys(box: RefObject<HTMLDivElement | null>, isMain: boolean): void {
  useEffect(() => {
    if (!isMain) return
    const pass = (event: globalThis.KeyboardEvent) => {
      const element = box.current
      const isTaken = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey
      if (isTaken || element !== document.querySelector('.rows.main')) return
      if (!isForList(event.key, placeOfKey(event.target), preference('letterKeys') === 'on')) return
      element?.focus({ preventScroll: true })
      const { key, code, shiftKey } = event
      const passed = new KeyboardEvent('keydown', { key, code, shiftKey, bubbles: true, cancelable: true })
      if (element?.dispatchEvent(passed) === false) event.preventDefault()
    }
    document.addEventListener('keydown', pass)
    return () => document.removeEventListener('keydown', pass)
  }, [box, isMain])
}

export function Rows(props: RowsProps) {
  const {
    count,
    height,
    at,
    onAt,
    render,
    onRange,
    onKey,
    head,
    headHeight = 0,
    label,
    role = 'table',
    className = '',
  } = props
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, size: 600 })
  const whole = count * height
  const pixels = Math.min(whole, maxPixels)
  const room = Math.max(0, view.size - headHeight)
  const scale = pixels > room && whole > pixels ? (whole - room) / (pixels - room) : 1
  const offset = view.top * scale
  const within = (extra: number): [from: number, to: number] => [
    Math.max(0, Math.floor(offset / height) - extra),
    Math.min(count, Math.ceil((offset + room) / height) + extra),
  ]
  const [first, last] = within(overscan)
  // Rows in view are drawn first.
  const [from, to] = within(useDeferredValue(overscan, 0))

  // The row that is first in view stays so when rows become higher or lower.
  const drawn = useRef({ height, offset })
  useLayoutEffect(() => {
    const element = box.current
    const before = drawn.current
    if (element && before.height !== height) element.scrollTop = ((before.offset / before.height) * height) / scale
  }, [height, scale])
  useLayoutEffect(() => {
    drawn.current = { height, offset }
  })
  useMainKeys(box, props.isMain === true)
  const look = () => {
    const element = box.current
    if (element) setView({ top: element.scrollTop, size: element.clientHeight })
  }
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setView({ top: element.scrollTop, size: element.clientHeight }))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useEffect(() => onRange?.(first, last), [first, last, onRange])

  const reveal = (index: number) => {
    const element = box.current
    if (!element || index < 0) return
    const top = index * height
    const now = element.scrollTop * scale
    if (top < now) element.scrollTop = top / scale
    else if (top + height > now + room) element.scrollTop = (top + height - room) / scale
    look()
  }
  useImperativeHandle(props.handle, () => ({ reveal, focus: () => box.current?.focus(), range: () => [first, last] }))

  const move = (event: KeyboardEvent) => {
    if (onKey?.(event)) return event.preventDefault()
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor(room / height) - 1)
    const next = rowOfKey(event.key, at, count, page)
    if (next === undefined) return
    event.preventDefault()
    onAt(next)
    reveal(next)
  }

  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n)
  if (at >= 0 && at < count && (at < from || at >= to)) indexes.push(at)
  return (
    <div
      ref={box}
      className={`rows${props.isMain ? ' main' : ''} ${className}`}
      role={role}
      aria-label={label}
      aria-rowcount={role === 'table' || role === 'treegrid' ? count + (head ? 1 : 0) : undefined}
      tabIndex={0}
      style={props.fits ? { flex: `0 1 ${whole + headHeight + 4}px` } : undefined}
      onScroll={look}
      onKeyDown={move}
    >
      {head}
      <div
        role={role === 'table' || role === 'treegrid' ? 'rowgroup' : 'none'}
        style={{ height: pixels, position: 'relative' }}
      >
        {indexes.map((index) => {
          const y = index * height - offset + view.top
          return (
            <Place key={index} y={y} height={height} onPick={() => onAt(index)}>
              {render(index, index === at)}
            </Place>
          )
        })}
      </div>
      {props.children}
    </div>
  )
}

function Place({ y, height, onPick, children }: { y: number; height: number; onPick(): void; children: ReactNode }) {
  return (
    <div
      role="presentation"
      className="place"
      style={{ position: 'absolute', left: 0, minWidth: '100%', height, transform: `translateY(${y}px)` }}
      onClick={onPick}
    >
      {children}
    </div>
  )
}
