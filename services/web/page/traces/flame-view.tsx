// The spans of a trace as a flame graph: by time, or by the path of their names. Arrows go from box to box, Enter opens one.
import {
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { boxAt, flameOfPaths, flameOfTree, isFlameKey, linesMeant, partWith, stepOf } from '../engine/flame.ts'
import { count, duration } from '../engine/format.ts'
import { namePaths } from '../engine/name-paths.ts'
import { matcherOf, nextMeant, statusOfSpan, type Tree, type View } from '../engine/tree.ts'
import { T } from '../parts/text.tsx'
import { usePreference } from '../preferences.ts'
import { scaled } from '../text-scale.ts'
import { drawFlame, type Window } from './draw.ts'
import type { TreeHandle } from './tree-view.tsx'
import './flame.css'

const rowHeight = scaled(22)

type FlameProps = {
  tree: Tree
  nowUs: number
  /** Names are put together, with their times summed. */
  isByPath: boolean
  /** The search; everything else is pale. */
  view: Omit<View, 'collapsed'>
  /** The part of the time that shows; of paths all of them do. */
  window: Window
  /** Line of the tree that is in the reader. */
  line: number
  /** @param window another part of the time, where the line is not in that which shows */
  onLine(line: number, window?: Window): void
  handle: Ref<TreeHandle>
}

export function FlameView({ tree, nowUs, isByPath, view, window, line, onLine, handle }: FlameProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [chosen, setChosen] = useState(isByPath ? -1 : line)
  // The address follows keys a moment later: lines that it names on the way are not taken for somebody else's choice.
  const mine = useRef<number[]>([])
  useEffect(() => {
    if (isByPath) return
    if (!mine.current.includes(line)) setChosen(line)
    else if (mine.current.at(-1) === line) mine.current = []
  }, [line, isByPath])
  const theme = usePreference('theme')
  const flame = useMemo(
    () => (isByPath ? flameOfPaths(namePaths(tree)) : flameOfTree(tree, nowUs)),
    [tree, nowUs, isByPath],
  )
  const shown = useMemo(() => (isByPath ? { from: 0, to: flame.end } : window), [isByPath, flame.end, window])
  const { query, onlyCritical, kind, status, model, minShare, inPayloads } = view
  const matching = useMemo(() => {
    const isMatch = matcherOf(tree, { query, onlyCritical, kind, status, model, minShare, inPayloads })
    return isMatch && linesMeant(flame, tree, isMatch)
  }, [tree, flame, query, onlyCritical, kind, status, model, minShare, inPayloads])
  const matches = useMemo(() => matching?.reduce((sum, one) => (one < 0 ? sum : sum + 1), 0), [matching])
  const at = Math.min(chosen, flame.count - 1)
  const paint = useCallback(() => {
    if (!canvas.current || !scroller.current) return
    const top = scroller.current.scrollTop
    drawFlame(canvas.current, { flame, spans: tree.spans, window: shown, top, rowHeight, at, matching })
  }, [flame, tree, shown, at, matching])
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are those of the theme
  useLayoutEffect(() => {
    paint()
    const observer = new ResizeObserver(paint)
    if (canvas.current) observer.observe(canvas.current)
    return () => observer.disconnect()
  }, [paint, theme])
  const top = at < 0 ? 0 : (flame.level[at] as number) * rowHeight
  useEffect(() => {
    const box = scroller.current
    if (!box) return
    if (top < box.scrollTop) box.scrollTop = top
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
  }, [top])
  /** @param of the line of the tree that the reader shows */
  const pick = (box: number, of = tree.lineOf[flame.span[box] as number]) => {
    if (of === undefined) return
    setChosen(box)
    mine.current.push(of)
    onLine(of, isByPath ? undefined : partWith(flame, box, shown))
  }
  useImperativeHandle(handle, () => ({
    show: (one) => pick(flame.boxOf[tree.order[one] as number] as number, one),
    step(by, isMeant) {
      const lines = linesMeant(flame, tree, isMeant)
      const box = nextMeant(flame.count, at, by, (one) => (lines[one] as number) >= 0)
      if (box !== undefined) pick(box, lines[box])
    },
    focus: () => scroller.current?.focus(),
  }))
  const span = at < 0 ? undefined : flame.span[at]
  const took = at < 0 ? 0 : (flame.to[at] as number) - (flame.from[at] as number)
  return (
    <div className="flame">
      <div className="flame-area">
        <canvas ref={canvas} aria-hidden="true" />
        <div
          ref={scroller}
          className="flame-box"
          role="group"
          aria-label="Flame graph"
          tabIndex={0}
          onScroll={paint}
          onClick={(event) => {
            const area = event.currentTarget.getBoundingClientRect()
            const perPixel = (shown.to - shown.from) / Math.max(1, canvas.current?.clientWidth ?? 1)
            const level = Math.floor((event.clientY - area.top + event.currentTarget.scrollTop) / rowHeight)
            pick(boxAt(flame, shown.from + (event.clientX - area.left) * perPixel, level, perPixel))
          }}
          onKeyDown={(event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || !isFlameKey(event.key)) return
            event.preventDefault()
            pick(stepOf(flame, at, event.key))
          }}
        >
          <div style={{ height: flame.levels * rowHeight }} />
        </div>
      </div>
      <p className="second flame-said" role="status">
        {span === undefined ? (
          'Arrow keys move between boxes.'
        ) : (
          <>
            <T text={flame.nameOf(at)} max={160} /> {duration(took / 1000)}
            {isByPath ? ' in all' : ''}, {statusOfSpan(tree.spans, span)}
          </>
        )}
        {matches !== undefined && (
          <span className="dim num">
            {' '}
            {count(matches)} of {count(flame.count)} match
            {at >= 0 && (matching?.[at] ?? 0) < 0 && ', this one does not'}
          </span>
        )}
      </p>
    </div>
  )
}
