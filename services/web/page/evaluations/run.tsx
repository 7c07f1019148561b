// One evaluation run: what its scores come to, and its rows, each with a link to its trace.
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import {
  binOf,
  type Distribution,
  distributionOf,
  meanReported,
  objectRefOf,
  type RunHead,
  type RunRow,
  refLabel,
  scoreNames,
} from '../engine/evaluation-rows.ts'
import { count, duration, moment } from '../engine/format.ts'
import { statusNames } from '../engine/rows.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import { NotHere } from '../parts/not-here.tsx'
import { useProject } from '../parts/project.ts'
import { Seg } from '../parts/seg.tsx'
import { Second, T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { Bins, figure, placeOfScore } from './figures.tsx'
import { useExamples, useProgress, useRunRows, useRuns } from './use-runs.ts'
import '../parts/reader.css'
import './evaluations.css'

const route = '/signed-in/p/$entity/$project/evaluations/$runId'
const shownScores = 8

function matches(row: RunRow, of: Distribution | undefined, bin: number | undefined): boolean {
  if (of === undefined || bin === undefined) return true
  const value = row.scores.get(of.name)
  return value !== undefined && (of.isTruth ? Number(value) : binOf(Number(value), of)) === bin
}

const noRows: Readonly<Record<RunHead['status'], string>> = {
  running: 'This run has no rows yet.',
  error: 'This run failed before its first row.',
  success: 'This run has no rows.',
  descendant_error: 'This run has no rows.',
}

/** A row's score in a cell. */
function Score({ value }: { value: number | boolean | undefined }) {
  if (value === undefined) return <span className="dim">–</span>
  if (typeof value === 'number') return <span title={String(value)}>{figure(value)}</span>
  return (
    <span className={value ? 's-success' : 's-error'}>
      {value ? '✓' : '✕'} {String(value)}
    </span>
  )
}

const columnsOf = (names: readonly string[], exampleOf: ReturnType<typeof useExamples>): Column<RunRow>[] => [
  {
    head: '#',
    width: '5.2rem',
    isNumber: true,
    narrow: { line: 1 },
    cell: (_, index) => <span className="dim">{index + 1}</span>,
  },
  {
    head: 'Input',
    width: 'minmax(18rem, 2fr)',
    isName: true,
    narrow: { line: 1, grows: true },
    cell: (row) => <T text={exampleOf(row).input || row.id} />,
  },
  {
    head: 'Expected',
    width: 'minmax(12rem, 1fr)',
    cell: (row) => <Second text={exampleOf(row).expected} />,
  },
  {
    head: 'Output',
    width: 'minmax(18rem, 2fr)',
    narrow: { line: 2, grows: true },
    cell: ({ output, error, runs }) =>
      runs ? (
        <span className="dim">running</span>
      ) : error === null ? (
        <T text={output} />
      ) : (
        <span className="s-error">
          <T text={error} />
        </span>
      ),
  },
  ...names.map(
    (name, place): Column<RunRow> => ({
      key: `score ${name}`,
      head: name,
      shownHead: <T text={name} max={40} />,
      width: '9.6rem',
      isNumber: true,
      narrow: placeOfScore(name, place),
      cell: ({ scores }) => <Score value={scores.get(name)} />,
    }),
  ),
  {
    head: 'Latency',
    width: '8rem',
    isNumber: true,
    narrow: { line: 1 },
    cell: ({ latencyMs }) => duration(latencyMs),
  },
]

export function EvaluationRun() {
  const { entity, project, projectId } = useProject()
  const { runId } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/evaluations/$runId' })
  const params = { entity, project }
  const heads = useRuns(projectId, [runId])
  const head = heads.items?.[0]
  const going = useProgress(projectId, head?.status === 'running' ? [runId] : []).get(runId)
  const rows = useRunRows(projectId, runId, head?.status === 'running')
  const all = rows.items ?? []
  const names = scoreNames(all)
  const distributions = names.flatMap((name) => distributionOf(name, all, meanReported(head, name)) ?? [])
  const chosen = distributions.find(({ name }) => name === search.score)
  const bin = search.bin === undefined ? undefined : Number(search.bin)
  const shown = all.filter((row) => matches(row, chosen, bin) && (search.show !== 'errors' || row.error !== null))
  const errors = all.filter(({ error }) => error !== null).length
  const exampleOf = useExamples(shown, rows.range)
  const again = useAgain(projectId)
  const fault = heads.error ?? rows.error
  const target = (row: RunRow) => ({
    to: '/p/$entity/$project/traces/$traceId' as const,
    params: { ...params, traceId: row.traceId },
    search: { call: row.id },
  })
  const columns = columnsOf(names.slice(0, shownScores), exampleOf)
  const body = () => {
    const retry = () => {
      heads.refetch()
      rows.refetch()
    }
    if (fault) return <FaultBox error={fault} onRetry={retry} />
    if (heads.items === undefined || rows.items === undefined) return <Loading what="the evaluation run" />
    if (head === undefined) return <NotHere what="evaluation run" onRetry={heads.refetch} />
    return (
      <>
        <RunFacts head={head} rows={all.length} going={going} distributions={distributions} />
        <ListGrid
          list={rows}
          items={shown}
          what="the evaluation run"
          none={
            <div className="center">
              <p className="second">{all.length > 0 ? 'No row matches.' : noRows[head.status]}</p>
              {all.length > 0 && (
                <Button onClick={() => void navigate({ search: {} })}>Show all {count(all.length)}</Button>
              )}
            </div>
          }
          label="Rows of the run"
          columns={columns}
          minWidth={720 + Math.min(names.length, shownScores) * 108}
          onRange={rows.onRange}
          to={target}
          rowClass={({ error }) => (error === null ? '' : 'failed')}
        />
      </>
    )
  }
  return (
    <ProjectPage
      title={`Run ${runId.slice(-6)}`}
      crumb={
        <Link to="/p/$entity/$project/evaluations" params={params} search={{}}>
          Evaluations
        </Link>
      }
    >
      <h1 className="hidden">Evaluation run {runId}</h1>
      <div className="bar">
        <Seg
          label="Which rows"
          value={search.show === 'errors' ? 'errors' : 'all'}
          of={[
            ['all', 'All rows'],
            ['errors', `Errors ${errors}`],
          ]}
          onValue={(show) =>
            void navigate({ search: (old) => ({ ...old, show: show === 'errors' ? show : undefined }) })
          }
        />
        {chosen && bin !== undefined && (
          <span className="chip">
            <T text={chosen.name} max={40} />
            <button
              type="button"
              aria-label={`Remove the filter by ${chosen.name.slice(0, 40)}`}
              onClick={() => void navigate({ search: (old) => ({ ...old, score: undefined, bin: undefined }) })}
            >
              <Icon name="close" />
            </button>
          </span>
        )}
        <span className="grow" />
        <Link
          className="line-link"
          to="/p/$entity/$project/traces/$traceId"
          params={{ ...params, traceId: head?.traceId ?? runId }}
          search={{}}
        >
          Trace
        </Link>
        <Button
          disabled={!again.may || head === undefined || again.isPending}
          title={again.may ? 'Run the same evaluation with the same model on this server' : noWrite}
          onClick={() => head && again.mutate(head)}
        >
          Run again
        </Button>
      </div>
      {again.error && (
        <p className="notice bad" role="alert">
          {again.error.message.slice(0, 300)}
        </p>
      )}
      {body()}
    </ProjectPage>
  )
}

type FactsProps = {
  head: RunHead
  rows: number
  going: { done: number; total: number } | undefined
  distributions: readonly Distribution[]
}

function RunFacts({ head, rows, going, distributions }: FactsProps) {
  const { tz, score: chosen, bin } = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/evaluations/$runId' })
  const zone = useZone(tz)
  return (
    <header className="run-head">
      <dl className="facts">
        <div>
          <dt className="hidden">Status</dt>
          <dd className={`s-${head.status}`}>
            <span className="with-icon">
              <Icon name={head.status} /> {statusNames[head.status]}
            </span>
          </dd>
        </div>
        <RefFact name="Evaluation" text={head.evaluation} />
        <RefFact name="Model" text={head.model} />
        <div>
          <dt>Started</dt>
          <dd title={head.startedAt}>{moment(head.startedAt, zone)}</dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd>{head.latencyMs === null ? 'running' : duration(head.latencyMs)}</dd>
        </div>
        <div>
          <dt>Rows</dt>
          <dd>
            {going === undefined ? (
              count(rows)
            ) : (
              <span className="progress">
                <progress
                  max={Math.max(1, going.total)}
                  value={going.done}
                  aria-label={`${going.done} of ${going.total} rows done`}
                />{' '}
                {count(going.done)} of {count(going.total)}
              </span>
            )}
          </dd>
        </div>
      </dl>
      {head.error !== null && (
        <p className="notice bad" role="alert">
          <T text={head.error} max={2_000} />
        </p>
      )}
      {distributions.length > 0 && (
        <section className="distributions" aria-label="Scores" tabIndex={0}>
          {distributions.map((one) => (
            <Bins
              key={one.name}
              of={one}
              chosen={one.name === chosen && bin !== undefined ? Number(bin) : undefined}
              onChoose={(next) =>
                void navigate({
                  search: (old) =>
                    next === undefined
                      ? { ...old, score: undefined, bin: undefined }
                      : { ...old, score: one.name, bin: String(next) },
                })
              }
            />
          ))}
        </section>
      )}
    </header>
  )
}

/** Asks the server to run the evaluation again; the new run is opened. */
function useAgain(projectId: string) {
  const { data: session } = useSession()
  const navigate = useNavigate({ from: '/p/$entity/$project/evaluations/$runId' })
  const mutation = useMutation({
    mutationFn: ({ evaluation, model }: { evaluation: string; model: string }) =>
      json('evaluations.evaluate_model', { project_id: projectId, evaluation_ref: evaluation, model_ref: model }),
    onSuccess: ({ call_id }) =>
      navigate({ to: '/p/$entity/$project/evaluations/$runId', params: (old) => ({ ...old, runId: call_id }) }),
  })
  return { ...mutation, may: mayWrite(session) }
}

function RefFact({ name, text }: { name: string; text: string }) {
  const ref = objectRefOf(text)
  const { projectId } = useProject()
  if (text === '') return null
  const [entity = '', project = ''] = ref?.projectId.split('/') ?? []
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {ref === undefined || ref.projectId !== projectId ? (
          <T text={refLabel(text)} max={80} />
        ) : (
          <Link
            to="/p/$entity/$project/objects/$objectId/$version"
            params={{ entity, project, objectId: ref.name, version: ref.digest }}
            search={ref.kind === 'op' ? { op: '1' } : {}}
          >
            <T text={refLabel(text)} max={80} />
          </Link>
        )}
      </dd>
    </div>
  )
}
