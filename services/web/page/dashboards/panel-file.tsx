// Saves a panel as a file: its figures as they were answered, not as they are rounded for reading, or its picture.
import type { Tick } from '../engine/axis-ticks.ts'
import { csvLine } from '../engine/csv.ts'
import { saveFile } from '../parts/save-file.ts'
import type { Drawn } from './figures.ts'

type Row = readonly (string | number | null)[]

type Props = { title: string; columns: readonly string[]; rows(): readonly Row[] }

const fileNameOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 80)

/** Numbers as they are, nothing for null. */
const lineOf = (row: Row): string => csvLine(row.map((value) => (value === null ? '' : String(value))))

export const CsvButton = ({ title, columns, rows }: Props) => (
  <button
    type="button"
    className="quiet"
    aria-label={`${title} as CSV`}
    onClick={() => {
      const file = new Blob([csvLine(columns), ...rows().map(lineOf)], { type: 'text/csv' })
      saveFile(file, `${fileNameOf(title)}.csv`)
    }}
  >
    CSV
  </button>
)

type Picture = {
  title: string
  drawn: readonly Drawn[]
  size: number
  height: number
  /** Ticks of the values, by their share of the height, and of the buckets. */
  ticks: readonly Tick[]
  places: readonly Tick[]
}

/** Values of the axis stand in the gutter. */
const [width, tall, margin, row, gutter] = [1_200, 520, 32, 28, 88] as const

/** Draws a chart in the colours of the theme. */
function draw(to: CanvasRenderingContext2D, { title, drawn, size, height, ticks, places }: Picture): void {
  const style = getComputedStyle(document.body)
  const colorOf = (name: string) => style.getPropertyValue(name)
  const write = (text: string, x: number, y: number, color = '--text-2', font = 16) => {
    to.fillStyle = colorOf(color)
    to.font = `${font}px ${style.fontFamily}`
    to.fillText(text, x, y)
  }
  to.fillStyle = colorOf('--bg')
  to.fillRect(0, 0, width, tall)
  write(title, margin, margin + 12, '--text', 22)
  const top = margin + 2 * row + 12
  const bottom = tall - margin - 2 * row
  const [left, right] = [margin + gutter, width - margin]
  const unit = (right - left) / Math.max(1, size)
  for (const { at, text } of ticks) {
    const y = bottom - at * (bottom - top)
    to.fillStyle = colorOf('--line')
    to.fillRect(left, y, right - left, 1)
    write(text, margin, y + 5)
  }
  for (const { at, text } of places) {
    const x = left + at * unit
    to.fillStyle = colorOf('--control')
    to.fillRect(x, bottom, 1, 8)
    write(text, Math.min(x, right - to.measureText(text).width), bottom + row)
  }
  const place = new DOMMatrix().translateSelf(left, top).scaleSelf(unit, (bottom - top) / height)
  for (const { color, path, as, opacity = 1 } of drawn) {
    to.globalAlpha = opacity
    const shape = new Path2D()
    shape.addPath(new Path2D(path), place)
    to.lineWidth = 2.5
    to.setLineDash(as === 'dashed' ? [6, 6] : [])
    to.strokeStyle = to.fillStyle = colorOf(color)
    if (as === 'area') to.fill(shape)
    else to.stroke(shape)
  }
  to.globalAlpha = 1
  let x: number = margin
  for (const { name, color, opacity } of drawn) {
    // Shades are no series.
    if (opacity !== undefined) continue
    to.fillStyle = colorOf(color)
    to.fillRect(x, tall - margin - 12, 12, 12)
    write(name.slice(0, 40), x + 20, tall - margin)
    x += 20 + to.measureText(name.slice(0, 40)).width + 24
  }
}

export const PngButton = (picture: Picture) => (
  <button
    type="button"
    className="quiet"
    aria-label={`${picture.title} as PNG`}
    onClick={() => {
      const canvas = document.createElement('canvas')
      Object.assign(canvas, { width, height: tall })
      const context = canvas.getContext('2d')
      if (context === null) return
      draw(context, picture)
      canvas.toBlob((file) => file && saveFile(file, `${fileNameOf(picture.title)}.png`), 'image/png')
    }}
  >
    PNG
  </button>
)
