// Bars and minimap of a trace on canvas: device pixels, only what is in view, errors win over colour below one pixel.
import type { Flame } from '../engine/flame.ts'
import { spanKinds } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import type { Spans, Tree } from '../engine/tree.ts'

export type Window = { from: number; to: number }
type Colours = { kinds: string[]; danger: string; line: string; text: string; accent: string; critical: string }

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element)
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    kinds: spanKinds.map(of),
    danger: of('danger'),
    line: of('line'),
    text: of('text-3'),
    accent: of('accent'),
    critical: of('text'),
  }
}

/** A canvas whose pixels are those of the device. */
function sized(
  canvas: HTMLCanvasElement,
): { context: CanvasRenderingContext2D; width: number; height: number } | undefined {
  const ratio = devicePixelRatio || 1
  const { clientWidth: width, clientHeight: height } = canvas
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio)
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio)
  const context = canvas.getContext('2d')
  if (context === null || width === 0) return undefined
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return { context, width, height }
}

/** Round steps of the axis, microseconds, at least 80 pixels apart. */
export function ticksOf({ from, to }: Window, width: number): number[] {
  const length = to - from
  if (length <= 0 || width <= 0) return []
  const least = (length / width) * 80
  const power = 10 ** Math.floor(Math.log10(least))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least) ?? least
  const ticks: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to && ticks.length < 100; at += step) ticks.push(at)
  return ticks
}

type Bars = {
  tree: Tree
  lines: Int32Array
  /** Lines in view, and where the first of them stands. */
  first: number
  last: number
  top: number
  rowHeight: number
  window: Window
  at: number
  nowUs: number
}

export function drawBars(
  canvas: HTMLCanvasElement,
  { tree, lines, first, last, top, rowHeight, window, at, nowUs }: Bars,
): void {
  const made = sized(canvas)
  if (made === undefined) return
  const { context, width, height } = made
  const colours = coloursOf(canvas)
  const scale = width / Math.max(1, window.to - window.from)
  context.fillStyle = colours.line
  for (const tick of ticksOf(window, width)) context.fillRect(Math.round((tick - window.from) * scale), 0, 1, height)
  const { spans, order, critical, own } = tree
  for (let n = first; n < last; n++) {
    const span = order[lines[n] as number] as number
    const start = spans.start[span] as number
    const runs = (spans.duration[span] as number) < 0
    const end = runs ? Math.max(start, nowUs) : start + (spans.duration[span] as number)
    const x = (start - window.from) * scale
    const length = Math.max(2, (end - start) * scale)
    if (x + length < 0 || x > width) continue
    const y = top + (n - first) * rowHeight
    const colour = spans.status[span] === 1 ? colours.danger : (colours.kinds[spans.kind[span] as number] as string)
    const left = Math.max(0, x)
    const drawn = Math.min(width, x + length) - left
    context.fillStyle = colour
    context.globalAlpha = n === at ? 1 : 0.82
    context.beginPath()
    context.roundRect(left, y + 6, drawn, rowHeight - 12, 2)
    context.fill()
    context.globalAlpha = 1
    if (runs) {
      context.save()
      context.clip()
      context.strokeStyle = colours.line
      context.lineWidth = 2
      for (let stripe = left + drawn - 36; stripe < left + drawn + 12; stripe += 6) {
        context.beginPath()
        context.moveTo(stripe, y + rowHeight)
        context.lineTo(stripe + rowHeight, y)
        context.stroke()
      }
      context.restore()
    }
    if (critical[span] === 1) {
      context.fillStyle = colours.critical
      context.globalAlpha = 0.7
      const mine = Math.min(drawn, Math.max(1, (own[span] as number) * scale))
      context.fillRect(left, y + rowHeight - 4.5, mine, 1.5)
      context.globalAlpha = 1
    }
  }
}

/** The whole trace as a flame graph: a level per depth, spans of less than a pixel merged. */
export function drawMinimap(canvas: HTMLCanvasElement, tree: Tree): void {
  const made = sized(canvas)
  if (made === undefined) return
  const { context, width, height } = made
  const colours = coloursOf(canvas)
  const { spans, order, depth, endUs } = tree
  let levels = 1
  for (const level of depth) levels = Math.max(levels, level + 1)
  levels = Math.min(levels, 14)
  const step = Math.min(12, (height - 6) / levels)
  const scale = width / Math.max(1, endUs)
  // The filled end of each level, so that overlapping spans do not all get drawn.
  const filled = new Int32Array(levels).fill(-1)
  for (let line = 0; line < order.length; line++) {
    const span = order[line] as number
    const level = Math.min(levels - 1, depth[line] as number)
    const length = spans.duration[span] as number
    const x = (spans.start[span] as number) * scale
    const w = Math.max(1, length < 0 ? width - x : length * scale)
    const isError = spans.status[span] === 1
    if (!isError && w <= 1 && Math.round(x) === filled[level]) continue
    filled[level] = Math.round(x)
    context.fillStyle = isError ? colours.danger : (colours.kinds[spans.kind[span] as number] as string)
    context.globalAlpha = 0.75
    context.fillRect(x, 3 + level * step, w, Math.max(1, step - 1))
  }
  context.globalAlpha = 1
}

type FlameBoxes = {
  flame: Flame
  spans: Spans
  window: Window
  top: number
  rowHeight: number
  at: number
  /** A matching line of each box, -1 = none: such boxes are pale. Undefined where nothing is asked for. */
  matching: Int32Array | undefined
}

/** The last pixel of each level that a box fills. Matches are drawn over the pale ones. */
function filledPixels(levels: number) {
  const all = new Int32Array(levels).fill(-1)
  const matches = new Int32Array(levels).fill(-1)
  return {
    has: (level: number, pixel: number, isPale: boolean): boolean => (isPale ? all : matches)[level] === pixel,
    add(level: number, pixel: number, isPale: boolean): void {
      all[level] = pixel
      if (!isPale) matches[level] = pixel
    },
  }
}

/** The boxes of a flame graph that are in view, with their names where these fit; narrower than a pixel they are merged. */
export function drawFlame(canvas: HTMLCanvasElement, boxes: FlameBoxes): void {
  const { flame, spans, window, top, rowHeight, at, matching } = boxes
  const made = sized(canvas)
  if (made === undefined) return
  const { context, width, height } = made
  const colours = coloursOf(canvas)
  const style = getComputedStyle(canvas)
  const [bg, text] = ['--bg', '--text'].map((name) => style.getPropertyValue(name).trim()) as [string, string]
  const scale = width / Math.max(1, window.to - window.from)
  const filled = filledPixels(flame.levels)
  context.font = `${Math.round(rowHeight * 0.55)}px ${style.fontFamily}`
  context.textBaseline = 'middle'
  for (let box = 0; box < flame.count; box++) {
    const level = flame.level[box] as number
    const y = level * rowHeight - top
    if (y + rowHeight < 0 || y > height) continue
    const x = ((flame.from[box] as number) - window.from) * scale
    const end = ((flame.to[box] as number) - window.from) * scale
    if (end < 0 || x > width) continue
    const span = flame.span[box] as number
    const isError = spans.status[span] === 1
    const isPale = matching !== undefined && (matching[box] as number) < 0
    const pixel = Math.round(x)
    if (end - x < 1 && (isPale || !isError) && box !== at && filled.has(level, pixel, isPale)) continue
    filled.add(level, pixel, isPale)
    const left = Math.max(0, x)
    const place = { left, y, width: Math.max(1, Math.min(width, end) - left - 1), height: rowHeight }
    const kind = colours.kinds[spans.kind[span] as number] as string
    fillBox(context, place, { bg, fill: isError ? colours.danger : kind, isPale, accent: box === at && colours.accent })
    if (place.width < 40) continue
    context.fillStyle = isPale ? colours.text : text
    fillName(context, plainOf(flame.nameOf(box), 100), place)
  }
}

type Place = { left: number; y: number; width: number; height: number }
type Look = { bg: string; fill: string; isPale: boolean; accent: string | false }

function fillBox(context: CanvasRenderingContext2D, { left, y, width, height }: Place, look: Look): void {
  context.fillStyle = look.bg
  context.fillRect(left, y, width, height - 1)
  context.globalAlpha = look.isPale ? 0.06 : look.accent ? 0.6 : 0.3
  context.fillStyle = look.fill
  context.fillRect(left, y, width, height - 1)
  context.globalAlpha = 1
  if (!look.accent) return
  context.strokeStyle = look.accent
  context.lineWidth = 2
  context.strokeRect(left + 1, y + 1, Math.max(1, width - 2), height - 3)
}

function fillName(context: CanvasRenderingContext2D, name: string, { left, y, width, height }: Place): void {
  context.save()
  context.beginPath()
  context.rect(left + 4, y, width - 8, height)
  context.clip()
  context.fillText(name, left + 4, y + height / 2)
  context.restore()
}
