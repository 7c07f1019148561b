// One chart over time: bars, lines or a stack of areas, read at one instant together with the other charts.
import { type ReactNode, useId, useState } from 'react'
import { moment } from '../engine/format.ts'
import { TimeBrush } from '../parts/time-brush.tsx'
import { CsvButton } from './panel-file.tsx'

export type Series = { name: string; color: string; values: readonly (number | null)[] }

type ChartProps = {
  title: string
  /** Bars and areas begin at zero; those of a stack stand on each other. */
  kind: 'bars' | 'lines' | 'stack'
  series: readonly Series[]
  buckets: readonly string[]
  zone: string
  shownAs(value: number | null): string
  at: number | undefined
  onAt(at: number | undefined): void
  onTake(from: number, to: number): void
}

const height = 100

/** Where the values of each series begin: on those before it in a stack, else at zero. */
function basesOf(series: readonly Series[], isStack: boolean): number[][] {
  const sums: number[] = []
  return series.map(({ values }) =>
    values.map((value, n) => {
      const base = isStack ? (sums[n] ?? 0) : 0
      sums[n] = base + (value ?? 0)
      return base
    }),
  )
}

const barsOf = (values: readonly (number | null)[], bases: readonly number[], most: number): string =>
  values
    .map((value, n) => {
      const size = ((value ?? 0) / most) * height
      return size === 0 ? '' : `M${n + 0.08} ${height - ((bases[n] ?? 0) / most) * height}v${-size}h0.84v${size}z`
    })
    .join('')

/** A value that stands alone is a short line of its own. */
const lineOf = (values: readonly (number | null)[], most: number): string =>
  values
    .map((value, n) => {
      if (value === null) return ''
      const y = height - (value / most) * height
      const follows = n > 0 && values[n - 1] !== null
      const isAlone = !follows && (values[n + 1] ?? null) === null
      return isAlone ? `M${n + 0.2} ${y}h0.6` : `${follows ? 'L' : 'M'}${n + 0.5} ${y}`
    })
    .join('')

export function Chart({ title, kind, series, buckets, zone, shownAs, at, onAt, onTake }: ChartProps) {
  const id = useId()
  const [only, setOnly] = useState<string>()
  const [isTable, setTable] = useState(false)
  const shown = series.some(({ name }) => name === only) ? series.filter(({ name }) => name === only) : series
  const bases = basesOf(shown, kind === 'stack')
  const most = Math.max(
    0,
    ...shown.flatMap(({ values }, place) => values.map((value, n) => (value ?? 0) + (bases[place]?.[n] ?? 0))),
  )
  const scale = most === 0 ? 1 : most
  const place = at === undefined ? undefined : buckets[at]
  const values = shown.map(({ name, values }) => `${name} ${shownAs(values[at ?? 0] ?? null)}`).join(', ')
  const told = place === undefined ? `${title}, at most ${shownAs(most)}` : `${moment(place, zone)}: ${values}`
  const when = (time: string | undefined) => (time === undefined ? '' : moment(time, zone))
  return (
    <section className="chart" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <span className="second num">{place === undefined ? '' : when(place)}</span>
        <button type="button" className="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </button>
        <CsvButton
          {...{ title, columns: ['time', ...series.map(({ name }) => name)] }}
          rows={() => buckets.map((time, n) => [time, ...series.map(({ values }) => values[n] ?? null)])}
        />
      </header>
      {isTable ? (
        <ChartTable {...{ title, series, buckets, shownAs }} when={when} />
      ) : (
        <>
          <p className="dim num top">{shownAs(most)}</p>
          <TimeBrush {...{ at, told, onAt, onTake }} label={title} size={buckets.length}>
            <svg viewBox={`0 0 ${Math.max(1, buckets.length)} ${height}`} preserveAspectRatio="none" aria-hidden="true">
              {shown.map(({ name, color, values }, n) =>
                kind === 'lines' ? (
                  <path key={name} className="line" stroke={`var(${color})`} d={lineOf(values, scale)} />
                ) : (
                  <path key={name} fill={`var(${color})`} d={barsOf(values, bases[n] ?? [], scale)} />
                ),
              )}
            </svg>
            {most === 0 && <p className="dim nothing">Nothing in this time</p>}
            {at !== undefined && <i className="instant" style={{ left: `${((at + 0.5) / buckets.length) * 100}%` }} />}
          </TimeBrush>
          <p className="dim num ends">
            <span>{when(buckets[0])}</span>
            <span>{when(buckets.at(-1))}</span>
          </p>
        </>
      )}
      <ul className="legend">
        {series.map(({ name, color, values }) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={only === name}
              title={only === name ? 'Show all' : 'Show this one alone'}
              onClick={() => setOnly(only === name ? undefined : name)}
            >
              <i style={{ background: `var(${color})` }} />
              <bdi>{name}</bdi>
              {at !== undefined && <span className="num">{shownAs(values[at] ?? null)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

type TableProps = Pick<ChartProps, 'title' | 'series' | 'buckets' | 'shownAs'> & {
  when(time: string): ReactNode
}

/** The numbers of a chart, as they are read without seeing it. */
const ChartTable = ({ title, series, buckets, shownAs, when }: TableProps) => (
  <div className="numbers" tabIndex={0}>
    <table aria-label={title}>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {series.map(({ name }) => (
            <th key={name} scope="col">
              <bdi>{name}</bdi>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {buckets.map((time, n) => (
          <tr key={time}>
            <th scope="row">{when(time)}</th>
            {series.map(({ name, values }) => (
              <td key={name} className="num">
                {shownAs(values[n] ?? null)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
