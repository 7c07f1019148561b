// Scores of compared runs: means, and the mean paired change against the first run.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Comparison } from '../engine/comparison.ts'
import { objectRefOf, type RunHead, refLabel } from '../engine/evaluation-rows.ts'
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

type Head = Comparison['heads'][number][number]

function ScoreCell({
  name,
  run,
  head,
  isLowerBetter,
}: {
  name: string
  run: number
  head: Head
  isLowerBetter: boolean
}) {
  const { mean, count: rows, change } = head
  return (
    <>
      <span className="num">{mean === null ? '–' : figure(mean)}</span>{' '}
      {change ? (
        <>
          <Change value={change.mean} isLowerBetter={isLowerBetter} />{' '}
          <span className="dim" title={`95 % interval of the mean paired change, ${change.pairs} pairs`}>
            [{figure(change.low)} {figure(change.high)}]
          </span>{' '}
          <span className="s-success">▲{change.better}</span> <span className="s-error">▼{change.worse}</span>
          <Scatter
            points={change.points}
            label={`${name.slice(0, 60)}: A against ${runLetter(run)}, ${change.better} better, ${change.worse} worse, ${change.same} same`}
          />
        </>
      ) : (
        <span className="dim">{plural(rows, 'row')}</span>
      )}
    </>
  )
}

/** Scores by run, with the mean paired change and its interval of 95 %. */
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
      return one && <ScoreCell name={name} run={run} head={one} isLowerBetter={isLowerBetter} />
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
    { name: 'Latency', classOf: isNumber, cell: (run) => duration(data.latency[run] ?? null) },
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
