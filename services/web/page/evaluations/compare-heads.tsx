// Scores of compared runs: means, and their difference from those of the first run.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Comparison, changeOf, leastPairs, type MetricHead, rowsText } from '../engine/comparison.ts'
import { meanReported, objectRefOf, type RunHead, refLabel } from '../engine/evaluation-rows.ts'
import { count, duration, money, plural, tokens } from '../engine/format.ts'
import { useProject } from '../parts/project.ts'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { sideText } from '../parts/sides.ts'
import { T } from '../parts/text.tsx'
import { Change, figure, Scatter } from './figures.tsx'
import { runLetter } from './search.ts'
import { useUsage } from './use-runs.ts'

type HeadsProps = {
  data: Comparison
  ids: string[]
  runs: readonly (RunHead | undefined)[]
  lower: string[]
  chosen: string[]
  onChange(next: { metrics?: string | undefined; lower?: string | undefined }): void
}

const toggled = (all: readonly string[], name: string): string | undefined =>
  (all.includes(name) ? all.filter((one) => one !== name) : [...all, name]).join(',') || undefined

/** The model of a run as the page of differences names it, where it is an object of the project. */
function modelSide(projectId: string, head: RunHead | undefined): string | undefined {
  const ref = objectRefOf(head?.model ?? '')
  return ref?.projectId === projectId && ref.kind === 'object'
    ? sideText({ object: ref.name, digest: ref.digest })
    : undefined
}

/** A row of the table: a cell for each run. */
type Line = {
  name: string
  head: ReactNode
  cell(run: number): ReactNode
  classOf?(run: number): string
  titleOf?(run: number): string
}

function ScoreCell({
  name,
  run,
  head,
  means,
  isLowerBetter,
}: {
  name: string
  run: number
  head: MetricHead
  /** Those of the first run, and of this one. */
  means: readonly [before: number | null, now: number | null]
  isLowerBetter: boolean
}) {
  const { change } = head
  const [before, mean] = means
  const shown = run === 0 ? undefined : changeOf(head, before, mean)
  return (
    <>
      <span className="num">{mean === null ? '–' : figure(mean)}</span>{' '}
      <span className="dim">{rowsText(head, mean)}</span>{' '}
      {shown && (
        <>
          <span title={`Difference of the means of ${runLetter(run)} and A`}>
            <Change value={shown.value} isLowerBetter={isLowerBetter} />
          </span>{' '}
          {shown.interval ? (
            <span className="dim" title={`95 % interval of the change, ${plural(change?.pairs ?? 0, 'row')}`}>
              [{figure(shown.interval[0])} {figure(shown.interval[1])}]
            </span>
          ) : (
            <span className="dim" title={`An interval needs ${leastPairs} rows that both runs have, and no others`}>
              {shown.why}
            </span>
          )}{' '}
        </>
      )}
      {change && (
        <>
          <span className="s-success">▲{change.better}</span> <span className="s-error">▼{change.worse}</span>
          <Scatter
            points={change.points}
            label={`${name.slice(0, 60)}: A against ${runLetter(run)}, ${change.better} better, ${change.worse} worse, ${change.same} same`}
          />
        </>
      )}
    </>
  )
}

/** Scores by run, with the difference of their means and its interval of 95 %. */
export function Heads({ data, ids, runs, lower, chosen, onChange }: HeadsProps) {
  const { entity, project, projectId } = useProject()
  const usage = useUsage(projectId, ids)
  const usageOf = (run: number) => usage.get(ids[run] ?? '')
  const scores = data.metrics.map((name, metric): Line => {
    const isLowerBetter = lower.includes(name)
    const head = (
      <>
        <button
          type="button"
          aria-pressed={chosen.includes(name)}
          title="Sort by changes of this score"
          onClick={() => onChange({ metrics: toggled(chosen, name) })}
        >
          <T text={name} max={60} />
        </button>
        <button
          type="button"
          aria-pressed={isLowerBetter}
          title="Which direction is better"
          onClick={() => onChange({ lower: toggled(lower, name) })}
        >
          {isLowerBetter ? 'lower is better' : 'higher is better'}
        </button>
      </>
    )
    const cell = (run: number) => {
      const one = data.heads[metric]?.[run]
      const meanIn = (at: number) => meanReported(runs[at], name) ?? data.heads[metric]?.[at]?.mean ?? null
      const means = [meanIn(0), meanIn(run)] as const
      return one && <ScoreCell {...{ name, run, means, isLowerBetter }} head={one} />
    }
    return { name: `score ${name}`, head, cell }
  })
  const model = (run: number) => {
    const [a, b] = [modelSide(projectId, runs[0]), modelSide(projectId, runs[run])]
    return (
      <>
        <T text={refLabel(runs[run]?.model ?? '')} max={40} />{' '}
        {a !== undefined && b !== undefined && a !== b && (
          <Link to="/p/$entity/$project/diff" params={{ entity, project }} search={{ a, b }} className="line">
            what differs
          </Link>
        )}
      </>
    )
  }
  const isNumber = () => 'num'
  const others: Omit<Line, 'head'>[] = [
    {
      name: 'Prediction',
      classOf: isNumber,
      // As the list of runs has it; of a run that has not summed itself up, of its rows.
      cell: (run) => duration(runs[run]?.predictionMs ?? data.latency[run] ?? null),
    },
    {
      name: 'Tokens',
      classOf: isNumber,
      titleOf: (run) => count(usageOf(run)?.tokens ?? 0),
      cell: (run) => tokens(usageOf(run)?.tokens || null),
    },
    {
      name: 'Cost',
      classOf: isNumber,
      titleOf: (run) => `$${usageOf(run)?.cost ?? 0}`,
      cell: (run) => (usageOf(run)?.cost ? money(usageOf(run)?.cost ?? 0) : '–'),
    },
    { name: 'Model', cell: model },
    {
      name: 'Errors',
      classOf: (run) => ((data.errors[run] ?? 0) > 0 ? 's-error' : ''),
      cell: (run) => count(data.errors[run] ?? 0),
    },
  ]
  const columns: ShortColumn<Line>[] = [
    { head: 'Score', isRowHead: true, cell: ({ head }) => head },
    ...ids.map((id, run) => ({
      key: id,
      head: runLetter(run),
      className: ({ classOf }: Line) => classOf?.(run) ?? '',
      title: ({ titleOf }: Line) => titleOf?.(run),
      cell: ({ cell }: Line) => cell(run),
    })),
  ]
  const lines = [...scores, ...others.map((line) => ({ ...line, head: line.name }))]
  return (
    <div className="compare-heads" tabIndex={0} role="group" aria-label="Scores by run">
      <ShortTable columns={columns} items={lines} idOf={({ name }) => name} />
    </div>
  )
}
