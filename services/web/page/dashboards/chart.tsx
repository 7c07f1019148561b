// One chart over time: bars, lines or a stack of areas, read at one instant together with the other charts.
import { type ReactNode, useId, useState } from 'react'
import { type AxisUnit, type Tick, timeTicks, valueTicks } from '../engine/axis-ticks.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { moment } from '../engine/format.ts'
import { ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { TimeBrush } from '../parts/time-brush.tsx'
import { countedText, type Drawn, numberOr0, type Series } from './figures.ts'
import { heatDrawn, heatTicks } from './heat.ts'
import { CsvButton, PngButton } from './panel-file.tsx'
import './axes.css'

type ChartProps = {
  title: string
  /** Bars and areas begin at zero; those of a stack stand on each other. */
  kind: 'bars' | 'lines' | 'stack' | 'heat'
  series: readonly Series[]
  /** The same over the time before, dashed. */
  before?: readonly Series[] | undefined
  buckets: readonly string[]
  zone: string
  /** Axis of buckets that are no times: its name, the names of buckets, and the ticks. */
  axis?: { name: string; nameOf(bucket: string): string; ticks: readonly Tick[] }
  /** Note on charts that show some calls only, or others than the page does. */
  note?: string | undefined
  /** The rows that are counted, calls without it. */
  rows?: RowsOf
  /** Stand behind those of every chart. */
  acts?: ReactNode
  shownAs(value: number | null): string
  /** Unit of the values, for the ticks of their axis. */
  unit: AxisUnit
  at: number | undefined
  onAt(at: number | undefined): void
  onTake(from: number, to: number): void
}

const height = 100

/** The base of each series' values: the series before it in a stack, else zero. */
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

/** The drawn lines, the dashed ones first, and the ticks whose last one is the top. */
function drawnOf(
  { kind, before, unit }: Pick<ChartProps, 'kind' | 'before' | 'unit'>,
  shown: readonly Series[],
  size: number,
) {
  const bases = basesOf(shown, kind === 'stack')
  const earlier = (before ?? []).filter(({ name }) => shown.some((one) => one.name === name))
  const most = Math.max(
    0,
    ...earlier.flatMap(({ values }) => values.slice(0, size).map(numberOr0)),
    ...shown.flatMap(({ values }, place) => values.map((value, n) => (value ?? 0) + (bases[place]?.[n] ?? 0))),
  )
  const values = valueTicks(most, unit)
  const scale = values.at(-1)?.at ?? 1
  const ticks = values.slice(0, most === 0 ? 1 : undefined).map(({ at, text }) => ({ at: at / scale, text }))
  const drawn: Drawn[] = [
    ...earlier.map(({ name, color, values }) => {
      return {
        name: `${name}, previous period`,
        color,
        path: lineOf(values.slice(0, size), scale),
        as: 'dashed' as const,
      }
    }),
    ...shown.map(({ name, color, values }, n) =>
      kind === 'lines'
        ? { name, color, path: lineOf(values, scale), as: 'line' as const }
        : { name, color, path: barsOf(values, bases[n] ?? [], scale), as: 'area' as const },
    ),
  ]
  return { most, drawn, ticks }
}

export function Chart(props: ChartProps) {
  const {
    title,
    kind,
    series,
    before,
    buckets,
    zone,
    axis,
    note,
    acts,
    rows = 'calls',
    shownAs,
    at,
    onAt,
    onTake,
  } = props
  const isHeat = kind === 'heat'
  const id = useId()
  const [only, setOnly] = useState<string>()
  const [isTable, setTable] = useState(false)
  const shown = series.some(({ name }) => name === only) ? series.filter(({ name }) => name === only) : series
  const { most, drawn, ticks } = isHeat
    ? { ...heatDrawn(shown, height), ticks: heatTicks(shown) }
    : drawnOf(props, shown, buckets.length)
  const places = axis?.ticks ?? timeTicks(buckets, zone)
  const place = at === undefined ? undefined : buckets[at]
  const some = shown.filter(({ values }) => !isHeat || values[at ?? 0])
  const values = some.map(({ name, values }) => `${name} ${shownAs(values[at ?? 0] ?? null)}`).join(', ')
  const nameOf = axis?.nameOf ?? ((time: string) => moment(time, zone))
  const when = (bucket: string | undefined) => (bucket === undefined ? '' : nameOf(bucket))
  const said = place === undefined ? `${title}, at most ${shownAs(most)}` : `${when(place)}: ${values}`
  return (
    <section className="chart" aria-labelledby={id}>
      <header>
        <h2 id={id}>
          <T text={title} max={100} />
        </h2>
        <span className="second num">{place === undefined ? countedText(rows) : when(place)}</span>
        <button type="button" className="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </button>
        <CsvButton
          title={title}
          columns={[axis?.name ?? 'time', ...series.map(({ name }) => name)]}
          rows={() =>
            buckets.map((bucket, n) => [
              axis ? nameOf(bucket) : bucket,
              ...series.map(({ values }) => values[n] ?? null),
            ])
          }
        />
        <PngButton title={title} drawn={drawn} size={buckets.length} height={height} ticks={ticks} places={places} />
        {acts}
      </header>
      {isTable ? (
        <ChartTable
          title={title}
          buckets={buckets}
          shownAs={shownAs}
          when={when}
          head={axis?.name ?? 'Time'}
          series={[...series, ...earlierOf(before)]}
        />
      ) : (
        <div className="plot">
          <Axis className="y-axis" ticks={ticks} />
          <TimeBrush at={at} onAt={onAt} onTake={onTake} told={said} label={title} size={buckets.length}>
            <svg viewBox={`0 0 ${Math.max(1, buckets.length)} ${height}`} preserveAspectRatio="none" aria-hidden="true">
              {ticks.slice(1).map(({ at: share }) => (
                <line key={share} className="rule" x2={buckets.length} y1={yOf(share)} y2={yOf(share)} />
              ))}
              {drawn.map(({ name, color, path, as, opacity }) =>
                as === 'area' ? (
                  <path key={name} fill={`var(${color})`} fillOpacity={opacity} d={path} />
                ) : (
                  <path key={name} className={`line ${as}`} stroke={`var(${color})`} d={path} />
                ),
              )}
            </svg>
            {most === 0 && <p className="dim nothing">No data in this time range</p>}
            {at !== undefined && <i className="instant" style={{ left: `${((at + 0.5) / buckets.length) * 100}%` }} />}
          </TimeBrush>
          <Axis
            className="x-axis"
            ticks={places.map(({ at: place, text }) => ({ at: place / buckets.length, text }))}
          />
        </div>
      )}
      {note !== undefined && <p className="dim">{note}</p>}
      {isHeat ? (
        <p className="dim num">
          {shown[0]?.name ?? ''} at the bottom; darkest cell: {shownAs(most)} {rows}
        </p>
      ) : (
        <ul className="legend">
          {series.map(({ name, color, values }) => (
            <li key={name}>
              <button
                type="button"
                aria-pressed={only === name}
                title={only === name ? 'Show all' : 'Show only this'}
                onClick={() => setOnly(only === name ? undefined : name)}
              >
                <i style={{ background: `var(${color})` }} />
                <bdi>{name}</bdi>
                {at !== undefined && <span className="num">{shownAs(values[at] ?? null)}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const yOf = (share: number): number => height * (1 - share)

/** Ticks of times behind it have their text before them. */
const lastShare = 0.88

/** Beside what is drawn: the table and what is said of an instant have the same for those who do not see it. */
const Axis = ({ className, ticks }: { className: 'x-axis' | 'y-axis'; ticks: readonly Tick[] }) => (
  <div className={`${className} dim`} aria-hidden="true">
    {ticks.map(({ at, text }) => (
      <span
        key={at}
        className={at > lastShare ? 'last' : undefined}
        style={{ [className === 'x-axis' ? 'left' : 'bottom']: `${at * 100}%` }}
      >
        {text}
      </span>
    ))}
  </div>
)

/** Earlier series as they are shown beside those of now. */
const earlierOf = (before: readonly Series[] = []): Series[] =>
  before.map((one) => ({ ...one, name: `${one.name}, previous period` }))

type TableProps = Pick<ChartProps, 'title' | 'series' | 'buckets' | 'shownAs'> & {
  head: string
  when(time: string): ReactNode
}

/** The numbers of a chart, as they are read without seeing it. */
const ChartTable = ({ title, head, series, buckets, shownAs, when }: TableProps) => (
  <div className="numbers" tabIndex={0}>
    <ShortTable
      label={title}
      columns={[
        { head, isRowHead: true, cell: when },
        ...series.map(({ name, values }) => ({
          key: `series ${name}`,
          head: name,
          shownHead: <bdi>{name}</bdi>,
          isNumber: true,
          cell: (_: string, n: number) => shownAs(values[n] ?? null),
        })),
      ]}
      items={buckets}
      idOf={(time) => time}
    />
  </div>
)
