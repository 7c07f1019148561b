// Small figures of evaluations: scores, their changes, distributions, trends and scatters. Each is told in words, too.

import { scatterSide } from '../engine/comparison.ts'
import type { Distribution } from '../engine/evaluation-rows.ts'
import { plural } from '../engine/format.ts'
import type { NarrowPlace } from '../parts/narrow-lines.tsx'
import { T } from '../parts/text.tsx'

/** A score in three digits. */
export function figure(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1_000_000) return String(value)
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return value
    .toPrecision(3)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
}

/** @param isLowerBetter turns the colours round */
export function Change({ value, isLowerBetter = false }: { value: number; isLowerBetter?: boolean }) {
  if (Math.abs(value) < 1e-12) return <span className="dim">=</span>
  const isGood = value > 0 !== isLowerBetter
  return (
    <span className={isGood ? 's-success' : 's-error'}>
      {isGood ? '▲' : '▼'} {value > 0 ? '+' : '−'}
      {figure(Math.abs(value))}
    </span>
  )
}

/** Where a score stands in rows of lines: below name and text, two in a line. */
export const placeOfScore = (name: string, place: number): NarrowPlace => ({
  line: 3 + Math.floor(place / 2),
  label: name.slice(0, 40),
})

const width = 120
const height = 26

/** A line over runs, the latest on the right. */
export function Trend({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null
  const low = Math.min(...values)
  const high = Math.max(...values)
  const x = (place: number) => 3 + (place / (values.length - 1)) * (width - 6)
  const y = (value: number) => (high === low ? height / 2 : 3 + ((high - value) / (high - low)) * (height - 6))
  const last = values.at(-1) as number
  return (
    <svg
      className="trend"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${label.slice(0, 60)} over ${plural(values.length, 'run')}: from ${figure(values[0] as number)} to ${figure(last)}`}
    >
      <path d={values.map((value, place) => `${place === 0 ? 'M' : 'L'}${x(place)} ${y(value)}`).join('')} />
      <circle cx={x(values.length - 1)} cy={y(last)} r="2.5" />
    </svg>
  )
}

type BinsProps = { of: Distribution; chosen: number | undefined; onChoose(bin: number | undefined): void }

const binLabel = ({ isTruth, min, max, bins }: Distribution, bin: number): string => {
  if (isTruth) return bin === 1 ? 'true' : 'false'
  const step = (max - min) / bins.length
  return min === max ? figure(min) : `${figure(min + step * bin)} to ${figure(min + step * (bin + 1))}`
}

/** Bars of a distribution; one that is pressed filters the rows. */
export function Bins({ of, chosen, onChoose }: BinsProps) {
  const most = Math.max(...of.bins)
  return (
    <figure className="bins">
      <figcaption>
        <T text={of.name} max={60} />
        <b className="num">{of.isTruth ? `${figure(of.mean * 100)} %` : figure(of.mean)}</b>
      </figcaption>
      <div className="bin-bars" role="group" aria-label={`Distribution of ${of.name.slice(0, 60)}`}>
        {of.bins.map((rows, bin) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: a bin is its place
            key={bin}
            type="button"
            aria-pressed={bin === chosen}
            aria-label={`${binLabel(of, bin)}: ${plural(rows, 'row')}`}
            title={`${binLabel(of, bin)}: ${plural(rows, 'row')}`}
            onClick={() => onChoose(bin === chosen ? undefined : bin)}
          >
            <i style={{ height: `${rows === 0 ? 0 : Math.max(2, (rows / most) * 40)}px` }} />
          </button>
        ))}
      </div>
      <p className="dim">
        {of.isTruth
          ? `${of.bins[1]} of ${of.over} true`
          : `quartiles ${of.quartiles.map(figure).join(' · ')}, ${plural(of.count, 'row')}`}
        {of.failed > 0 && `, ${of.failed} failed${of.over > of.count ? ' as 0' : ''}`}
      </p>
    </figure>
  )
}

/** Each row a point: the baseline's score to the right, the candidate's up. On the diagonal nothing has changed. */
export const Scatter = ({ points, label }: { points: string; label: string }) => (
  <svg className="scatter" viewBox={`0 0 ${scatterSide} ${scatterSide}`} role="img" aria-label={label}>
    <path className="same" d={`M4 ${scatterSide - 4}L${scatterSide - 4} 4`} />
    <path className="points" d={points} />
  </svg>
)
