// The whole trace above the tree: drag a range to look closer, or use the keys.
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Tree } from '../engine/tree.ts'
import { usePreference } from '../preferences.ts'
import { drawMinimap, type Window } from './draw.ts'

type MinimapProps = { tree: Tree; window: Window; onWindow(window: Window): void }

export function Minimap({ tree, window, onWindow }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [drag, setDrag] = useState<{ from: number; to: number } | undefined>()
  const theme = usePreference('theme')
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are those of the theme
  useEffect(() => {
    const element = canvas.current
    if (!element) return
    const draw = () => drawMinimap(element, tree)
    draw()
    const observer = new ResizeObserver(draw)
    observer.observe(element)
    return () => observer.disconnect()
  }, [tree, theme])
  const timeAt = (event: PointerEvent<HTMLElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.round(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * tree.endUs)
  }
  const shown = drag ? { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) } : window
  const share = (us: number) => `${(us / Math.max(1, tree.endUs)) * 100}%`
  const isWhole = shown.from <= 0 && shown.to >= tree.endUs
  return (
    <div
      className="minimap"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = timeAt(event)
        setDrag({ from: at, to: at })
      }}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: timeAt(event) })}
      onPointerUp={() => {
        if (drag && Math.abs(drag.to - drag.from) > tree.endUs / 500) onWindow(shown)
        setDrag(undefined)
      }}
      onDoubleClick={() => onWindow({ from: 0, to: tree.endUs })}
    >
      <canvas ref={canvas} />
      {!isWhole && <div className="window" style={{ left: share(shown.from), width: share(shown.to - shown.from) }} />}
    </div>
  )
}
