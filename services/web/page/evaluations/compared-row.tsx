// One row of a comparison: a cell by run, and all of it side by side in a dialog, differences by words.
import { Link } from '@tanstack/react-router'
import type { ComparedCell, ComparedRow } from '../engine/comparison.ts'
import { duration } from '../engine/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { Words } from '../parts/words.tsx'
import { Change, figure } from './figures.tsx'
import { runLetter } from './search.ts'

/** Longer texts are compared up to here; the work grows with the square of what differs. */
const comparedText = 2_000
const shownInRow = 160
const shownScores = 3

type CellProps = { cell: ComparedCell | null; first: ComparedCell | null; isLower: readonly boolean[] }

export function ComparedCellView({ cell, first, isLower }: CellProps) {
  if (cell === null) return <span className="dim">not in this run</span>
  return (
    <span className="compared">
      <span className="num">
        {cell.scores.slice(0, shownScores).map((score, metric) => {
          const before = first?.scores[metric]
          const hasChange = score !== null && before !== null && before !== undefined
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a metric is its place
            <span key={metric} title={score === null ? 'not scored' : String(score)}>
              {score === null ? '–' : figure(score)}{' '}
              {hasChange && <Change value={score - before} isLowerBetter={isLower[metric] ?? false} />}
            </span>
          )
        })}
        {cell.trials > 1 && <span className="dim">×{cell.trials}</span>}
      </span>
      <span>
        {cell.error === null ? (
          first === null ? (
            <T text={cell.output} max={shownInRow} />
          ) : (
            <Words before={first.output} now={cell.output} max={shownInRow} />
          )
        ) : (
          <span className="s-error">
            <T text={cell.error} max={shownInRow} />
          </span>
        )}
      </span>
    </span>
  )
}

type ReaderProps = {
  row: ComparedRow
  example: { input: string; expected: string }
  metrics: readonly string[]
  isLower: readonly boolean[]
  onClose(): void
}

export function ComparedReader({ row, example, metrics, isLower, onClose }: ReaderProps) {
  const { entity, project } = useProject()
  const [first] = row.cells
  return (
    <Dialog title={`Row ${row.number}`} onClose={onClose} className="wide">
      <section className="example" aria-label="Example">
        <h3>Input</h3>
        <p className="said">
          <T text={example.input} max={comparedText} />
        </p>
        {example.expected !== '' && (
          <>
            <h3>Expected</h3>
            <p className="said">
              <T text={example.expected} max={comparedText} />
            </p>
          </>
        )}
      </section>
      <div className="side-by-side">
        {row.cells.map((cell, run) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place
          <section key={run} aria-label={`Run ${runLetter(run)}`}>
            <h3>
              {runLetter(run)}{' '}
              {cell && (
                <Link
                  to="/p/$entity/$project/traces/$traceId"
                  params={{ entity, project, traceId: cell.traceId }}
                  search={{ call: cell.id }}
                >
                  Trace
                </Link>
              )}
            </h3>
            {cell === null ? (
              <p className="dim">This run does not have this row.</p>
            ) : (
              <>
                <p className={`said ${cell.error === null ? '' : 's-error'}`}>
                  {cell.error !== null ? (
                    <T text={cell.error} max={comparedText} />
                  ) : run === 0 || !first ? (
                    <T text={cell.output} max={comparedText} />
                  ) : (
                    <Words before={first.output} now={cell.output} max={comparedText} />
                  )}
                </p>
                <dl className="facts">
                  {metrics.map((name, metric) => {
                    const score = cell.scores[metric]
                    const before = first?.scores[metric]
                    if (score === null || score === undefined) return null
                    const isCompared = run > 0 && before !== null && before !== undefined
                    return (
                      <div key={name}>
                        <dt>
                          <T text={name} max={60} />
                        </dt>
                        <dd>
                          {figure(score)}
                          {(cell.spread[metric] ?? 0) > 0 && ` ± ${figure((cell.spread[metric] as number) / 2)}`}{' '}
                          {isCompared && <Change value={score - before} isLowerBetter={isLower[metric] ?? false} />}
                        </dd>
                      </div>
                    )
                  })}
                  <div>
                    <dt>Latency</dt>
                    <dd>{duration(cell.latencyMs)}</dd>
                  </div>
                </dl>
                {cell.reasons.map(([name, text]) => (
                  <p key={name} className="second">
                    <b>
                      <T text={name} max={60} />
                    </b>{' '}
                    <T text={text} max={comparedText} />
                  </p>
                ))}
              </>
            )}
          </section>
        ))}
      </div>
    </Dialog>
  )
}
