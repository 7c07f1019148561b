// Scores of compared runs: means, and the mean paired change against the first run.
import { Link } from '@tanstack/react-router'
import { sideText } from '../differences/search.ts'
import type { Comparison } from '../engine/comparison.ts'
import { objectRefOf, type RunHead, refLabel } from '../engine/evaluation-rows.ts'
import { count, duration, money, plural, tokens } from '../engine/format.ts'
import { useProject } from '../parts/project.ts'
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

/** Scores by run, with the mean paired change and its interval of 95 %. */
export function Heads({ data, ids, runs, lower, chosen, onChange }: HeadsProps) {
  const { entity, project, projectId } = useProject()
  const usage = useUsage(projectId, ids)
  return (
    <div className="compare-heads" tabIndex={0} role="group" aria-label="Scores by run">
      <table>
        <thead>
          <tr>
            <th scope="col">Score</th>
            {ids.map((id, run) => (
              <th key={id} scope="col">
                {runLetter(run)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.metrics.map((name, metric) => {
            const isLowerBetter = lower.includes(name)
            return (
              <tr key={name}>
                <th scope="row">
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
                </th>
                {data.heads[metric]?.map(({ mean, count: rows, change }, run) => (
                  <td key={ids[run]}>
                    <span className="num">{mean === null ? '–' : figure(mean)}</span>{' '}
                    {change ? (
                      <>
                        <Change value={change.mean} isLowerBetter={isLowerBetter} />{' '}
                        <span className="dim" title={`95 % interval of the mean paired change, ${change.pairs} pairs`}>
                          [{figure(change.low)} {figure(change.high)}]
                        </span>{' '}
                        <span className="s-success">▲{change.better}</span>{' '}
                        <span className="s-error">▼{change.worse}</span>
                        <Scatter
                          points={change.points}
                          label={`${name.slice(0, 60)}: A against ${runLetter(run)}, ${change.better} better, ${change.worse} worse, ${change.same} same`}
                        />
                      </>
                    ) : (
                      <span className="dim">{plural(rows, 'row')}</span>
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
          <tr>
            <th scope="row">Latency</th>
            {data.latency.map((ms, run) => (
              <td key={ids[run]} className="num">
                {duration(ms)}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">Tokens</th>
            {ids.map((id) => (
              <td key={id} className="num" title={count(usage.get(id)?.tokens ?? 0)}>
                {tokens(usage.get(id)?.tokens || null)}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">Cost</th>
            {ids.map((id) => (
              <td key={id} className="num" title={`$${usage.get(id)?.cost ?? 0}`}>
                {usage.get(id)?.cost ? money(usage.get(id)?.cost ?? 0) : '–'}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">Model</th>
            {runs.map((head, run) => {
              const [a, b] = [modelSide(projectId, runs[0]), modelSide(projectId, head)]
              return (
                <td key={ids[run]}>
                  <T text={refLabel(head?.model ?? '')} max={40} />{' '}
                  {a !== undefined && b !== undefined && a !== b && (
                    <Link to="/p/$entity/$project/diff" params={{ entity, project }} search={{ a, b }} className="line">
                      what differs
                    </Link>
                  )}
                </td>
              )
            })}
          </tr>
          <tr>
            <th scope="row">Errors</th>
            {data.errors.map((errors, run) => (
              <td key={ids[run]} className={errors > 0 ? 's-error' : ''}>
                {count(errors)}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  )
}
