// Tree and timeline in one: a line per span, bars on a canvas beside, both by the same scroll.
import {
  type KeyboardEvent,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { duration } from '../engine/format.ts'
import { idAt, spanOfId } from '../engine/span-columns.ts'
import { matchesOf, nextMeant, type Tree, type View, visibleLines } from '../engine/tree.ts'
import { Rows, type RowsHandle } from '../parts/rows.tsx'
import { usePreference } from '../preferences.ts'
import { scaled } from '../text-scale.ts'
import { drawBars, ticksOf, type Window } from './draw.ts'
import { SpanRow } from './span-row.tsx'
import './trace.css'

const rowHeight = scaled(24)
const axisHeight = scaled(24)

export type TreeHandle = {
  show(line: number): void
  /** Shows the next span in some direction that is meant. */
  step(by: 1 | -1, isMeant: (span: number) => boolean): void
  focus(): void
}

type TreeProps = {
  tree: Tree
  nowUs: number
  view: Omit<View, 'collapsed'>
  window: Window
  /** Line of the tree that is in the reader. */
  line: number
  onLine(line: number): void
  handle: Ref<TreeHandle>
}

type Drawn = Pick<TreeProps, 'tree' | 'window' | 'nowUs'> & {
  lines: Int32Array
  at: number
}

/** Draws the bars of the rows in view over their column, and measures where that is. */
function useBars({ tree, lines, window, at, nowUs }: Drawn) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const axis = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ left: 0, width: 0 })
  const theme = usePreference('theme')
  const paint = useCallback(() => {
    const scroller = box.current?.querySelector('.rows')
    if (!canvas.current || !scroller) return
    const whole = lines.length * rowHeight
    const top = scroller.scrollTop
    // The same scale as the rows have (parts/rows.tsx).
    const room = scroller.clientHeight - axisHeight
    const pixels = Math.min(whole, 8_000_000)
    const offset = top * (pixels > room && whole > pixels ? (whole - room) / (pixels - room) : 1)
    const first = Math.max(0, Math.floor(offset / rowHeight))
    const last = Math.min(lines.length, Math.ceil((offset + room) / rowHeight))
    const start = first * rowHeight - offset
    drawBars(canvas.current, { tree, lines, first, last, top: start, rowHeight, window, at, nowUs })
  }, [tree, lines, window, at, nowUs])
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are those of the theme
  useEffect(() => {
    paint()
    const scroller = box.current?.querySelector('.rows')
    scroller?.addEventListener('scroll', paint, { passive: true })
    return () => scroller?.removeEventListener('scroll', paint)
  }, [paint, place, theme])
  useLayoutEffect(() => {
    const element = axis.current
    if (!element) return
    const measure = () => {
      const outer = box.current?.getBoundingClientRect()
      const inner = element.getBoundingClientRect()
      if (outer) setPlace({ left: inner.left - outer.left, width: inner.width })
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return { box, canvas, axis, place }
}

export function TreeView({ tree, nowUs, view, window, line, onLine, handle }: TreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const rows = useRef<RowsHandle>(null)
  const { query, onlyCritical, kind, status, model, minShare, inPayloads, mode } = view
  const collapsed = useMemo(() => {
    const marks = new Uint8Array(tree.order.length)
    // Spans are known by their ids: lines move when a running trace grows.
    for (const id of closed) {
      const span = spanOfId(tree.spans.ids, id)
      if (span !== -1) marks[tree.lineOf[span] as number] = 1
    }
    return marks
  }, [tree, closed])
  const lines = useMemo(
    () => visibleLines(tree, { collapsed, query, onlyCritical, kind, status, model, minShare, inPayloads, mode }),
    [tree, collapsed, query, onlyCritical, kind, status, model, minShare, inPayloads, mode],
  )
  const at = useMemo(() => {
    // Lines of a tree stand in its order.
    if (mode !== undefined) return lines.indexOf(line)
    let low = 0
    let high = lines.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = lines[middle] as number
      if (found === line) return middle
      if (found < line) low = middle + 1
      else high = middle - 1
    }
    return -1
  }, [lines, line, mode])

  const setOpen = useCallback(
    (one: number, isOpen: boolean) => {
      const id = idAt(tree.spans.ids, tree.order[one] as number)
      setClosed((before) => {
        const next = new Set(before)
        if (isOpen) next.delete(id)
        else next.add(id)
        return next
      })
    },
    [tree],
  )
  const hasChildren = (one: number) => (tree.end[one] as number) > one + 1
  const isOpen = (one: number) => collapsed[one] === 0
  const parentOf = (one: number): number => {
    for (let up = one - 1; up >= 0; up--) if ((tree.depth[up] as number) < (tree.depth[one] as number)) return up
    return -1
  }
  const show = (one: number) => {
    for (let up = parentOf(one); up !== -1; up = parentOf(up)) if (!isOpen(up)) setOpen(up, true)
    onLine(one)
    requestAnimationFrame(() => {
      const index = lines.indexOf(one)
      if (index !== -1) rows.current?.reveal(index)
    })
  }
  const step: TreeHandle['step'] = (by, isMeant) => {
    const found = nextMeant(tree.order.length, line, by, (one) => isMeant(tree.order[one] as number))
    if (found !== undefined) show(found)
  }
  useImperativeHandle(handle, () => ({ show, step, focus: () => rows.current?.focus() }))

  const onKey = (event: KeyboardEvent): boolean => {
    if (mode !== undefined) return event.key === 'ArrowRight' || event.key === 'ArrowLeft'
    if (event.key === 'ArrowRight' && at !== -1) {
      if (!hasChildren(line)) return true
      if (isOpen(line)) onLine(line + 1)
      else setOpen(line, true)
      return true
    }
    if (event.key === 'ArrowLeft' && at !== -1) {
      if (hasChildren(line) && isOpen(line)) setOpen(line, false)
      else if (parentOf(line) !== -1) show(parentOf(line))
      return true
    }
    return false
  }

  const { box, canvas, axis, place } = useBars({ tree, lines, window, at, nowUs })
  const isBare = useMemo(
    () => !tree.spans.tokensIn.some((one) => one > 0) && !tree.spans.cost.some((one) => one > 0),
    [tree],
  )
  const needle = query.toLowerCase()
  const isNamed = useMemo(() => matchesOf(tree.spans, needle), [tree, needle])
  const isFound = (span: number) => isNamed(span) || inPayloads?.has(idAt(tree.spans.ids, span)) === true
  const scale = place.width / Math.max(1, window.to - window.from)
  return (
    <div ref={box} className={isBare ? 'spans bare' : 'spans'}>
      <Rows
        handle={rows}
        isMain
        role="treegrid"
        label="Spans"
        count={lines.length}
        height={rowHeight}
        at={at}
        onAt={(index) => onLine(lines[index] as number)}
        onKey={onKey}
        headHeight={axisHeight + 1}
        head={
          <div className="head" role="rowgroup">
            <div role="row" className="span">
              <div className="cells">
                <span role="columnheader">Name</span>
                <span role="columnheader" className="num wide tokens">
                  Tokens
                </span>
                <span role="columnheader" className="num wide">
                  Cost
                </span>
                <span role="columnheader" className="num">
                  Time
                </span>
              </div>
              <div role="columnheader" className="axis" ref={axis}>
                <div className="hidden">Timeline</div>
                {ticksOf(window, place.width)
                  .filter((tick) => (tick - window.from) * scale < place.width - 44)
                  .map((tick) => (
                    <span key={tick} style={{ left: (tick - window.from) * scale }}>
                      {duration(tick / 1000)}
                    </span>
                  ))}
              </div>
            </div>
          </div>
        }
        render={(index, isAt) => {
          const one = lines[index] as number
          return (
            <SpanRow
              tree={tree}
              line={one}
              index={index}
              isAt={isAt}
              isFlat={mode !== undefined}
              isOpen={isOpen(one)}
              isMatch={needle !== '' && isFound(tree.order[one] as number)}
              onOpen={setOpen}
            />
          )
        }}
      />
      <canvas
        ref={canvas}
        className="bars"
        aria-hidden="true"
        style={{
          left: place.left,
          width: place.width,
          top: axisHeight + 1,
          height: `calc(100% - ${axisHeight + 1}px)`,
        }}
      />
    </div>
  )
}
