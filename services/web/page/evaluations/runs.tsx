// The list of evaluation runs: by evaluation, with the mean of each score and its change since the run before.
import { useQueries } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { meanReported, objectRefOf, type RunHead, refLabel } from '../engine/evaluation-rows.ts'
import { age, count, duration, moment, plural } from '../engine/format.ts'
import { statusNames } from '../engine/rows.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Stale } from '../parts/fault.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { useProject } from '../parts/project.ts'
import { Select } from '../parts/select.tsx'
import { T } from '../parts/text.tsx'
import { useMarked } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import { Change, figure, placeOfScore, Trend } from './figures.tsx'
import { NewRun } from './new-run.tsx'
import { SavedComparisons } from './saved.tsx'
import { maxRuns } from './search.ts'
import { listedRuns, useProgress, useRuns } from './use-runs.ts'
import './evaluations.css'

const shownScores = 6
const route = '/signed-in/p/$entity/$project/evaluations'

const nameOf = (ref: string): string => objectRefOf(ref)?.name ?? ref

/** The run of the same evaluation that was before: the list begins with the latest. */
const runBefore = (heads: readonly RunHead[], head: RunHead): RunHead | undefined =>
  heads
    .slice(heads.indexOf(head) + 1)
    .find(({ evaluation, status }) => nameOf(evaluation) === nameOf(head.evaluation) && status !== 'running')

/** Names of scores, the commonest first. */
function scoreNamesOf(heads: readonly RunHead[]): string[] {
  const counts = new Map<string, number>()
  for (const { scores } of heads) for (const [name] of scores) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name)
}

const opNameHas = (substr: string) => ({
  $contains: { input: { $getField: 'op_name' }, substr: { $literal: substr } },
})
/** Whether a child of a run is a row: others sum them up. */
const isRow = { $expr: { $or: ['predict_and_score', 'predictAndScore'].map(opNameHas) } }

/** Number of rows of the runs in view. */
function useRowCounts(projectId: string, heads: readonly RunHead[]) {
  const results = useQueries({
    queries: heads.map(({ id, status }) => ({
      queryKey: ['evaluation count', projectId, id, status],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        json('calls.query_stats', { project_id: projectId, filter: { parent_ids: [id] }, query: isRow }, { signal }),
      staleTime: 60_000,
    })),
  })
  return new Map(heads.map(({ id, status }, n) => [id, { rows: results[n]?.data?.count, ended: status !== 'running' }]))
}

type Shown = {
  zone: string
  all: readonly RunHead[]
  /** Names of the scores that have a column. */
  names: readonly string[]
  marked: ReturnType<typeof useMarked>
  progress: ReturnType<typeof useProgress>
  counts: ReturnType<typeof useRowCounts>
}

const columnsOf = ({ zone, all, names, marked, progress, counts }: Shown): Column<RunHead>[] => [
  {
    head: 'Mark',
    shownHead: <span className="hidden">Mark</span>,
    width: '2.4rem',
    isOwn: true,
    narrow: { line: 1 },
    cell: ({ id, name }, index) => (
      <span className="mark-cell">
        <label>
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Mark ${name.slice(0, 60)}`}
            checked={marked.ids.has(id)}
            onChange={() => marked.toggle(index)}
          />
        </label>
      </span>
    ),
  },
  {
    head: 'Status',
    shownHead: <span className="hidden">Status</span>,
    width: '1.8rem',
    narrow: { line: 1 },
    cell: ({ status }) => (
      <span className={`s-${status}`}>
        <Icon name={status} label={statusNames[status]} />
      </span>
    ),
  },
  {
    head: 'Run',
    width: 'minmax(17rem, 1.2fr)',
    isName: true,
    narrow: { line: 1, grows: true },
    cell: ({ id, name, error }) => (
      <>
        <T text={name === 'Evaluation.evaluate' ? `Run ${id.slice(-6)}` : name} />
        {error !== null && (
          <span className="s-error">
            {' '}
            <T text={error.split('\n', 1)[0] ?? ''} max={200} />
          </span>
        )}
      </>
    ),
  },
  {
    head: 'Evaluation',
    width: 'minmax(12rem, 1fr)',
    narrow: { line: 2, grows: true },
    cell: (head) => <Ref text={head.evaluation} />,
  },
  {
    head: 'Model',
    width: 'minmax(12rem, 1fr)',
    narrow: { line: 2, grows: true },
    cell: (head) => <Ref text={head.model} />,
  },
  {
    head: 'Started',
    width: '11.2rem',
    narrow: { line: 1 },
    cell: ({ startedAt }) => (
      <span className="second" title={`${startedAt} · ${age(startedAt)}`}>
        {moment(startedAt, zone)}
      </span>
    ),
  },
  {
    head: 'Rows',
    width: '6.4rem',
    isNumber: true,
    cell: ({ id }) => {
      const going = progress.get(id)
      if (going !== undefined) return `${count(going.done)} of ${count(going.total)}`
      const known = counts.get(id)
      // The summary of a finished run is a call below it, too.
      return known?.rows === undefined ? '' : count(known.rows)
    },
  },
  ...names.map(
    (name, place): Column<RunHead> => ({
      key: `score ${name}`,
      head: name,
      shownHead: <T text={name} max={40} />,
      width: '11.2rem',
      isNumber: true,
      narrow: placeOfScore(name, place),
      cell: (head) => {
        const value = meanReported(head, name)
        const before = meanReported(runBefore(all, head), name)
        if (value === undefined) return <span className="dim">–</span>
        return (
          <span title={before === undefined ? String(value) : `${value}: difference of the means from the run before`}>
            {before !== undefined && <Change value={value - before} />} {figure(value)}
          </span>
        )
      },
    }),
  ),
  {
    head: 'Prediction',
    width: '8.8rem',
    isNumber: true,
    cell: ({ predictionMs }) => (predictionMs === null ? <span className="dim">–</span> : duration(predictionMs)),
  },
  {
    head: 'Duration',
    width: '8rem',
    isNumber: true,
    cell: ({ latencyMs }) => (latencyMs === null ? 'running' : duration(latencyMs)),
  },
]

export function EvaluationRuns() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/evaluations' })
  const zone = useZone(search.tz)
  const [isMaking, setMaking] = useState(false)
  const { data: session } = useSession()
  const reason = mayWrite(session) ? undefined : noWrite
  const list = useRuns(projectId)
  const all = list.items ?? []
  const evaluations = [...new Set(all.map(({ evaluation }) => nameOf(evaluation)))].filter((name) => name !== '')
  const heads = all.filter(({ evaluation }) => !search.evaluation || nameOf(evaluation) === search.evaluation)
  const names = scoreNamesOf(heads).slice(0, shownScores)
  const marked = useMarked(projectId, (index) => heads[index]?.id, maxRuns)
  const { from, to } = list.range
  const inView = heads.slice(from, Math.min(to, from + 60))
  const counts = useRowCounts(projectId, inView)
  const progress = useProgress(
    projectId,
    inView.filter(({ status }) => status === 'running').map(({ id }) => id),
  )
  const params = { entity, project }
  const target = ({ id }: RunHead) => ({
    to: '/p/$entity/$project/evaluations/$runId' as const,
    params: { ...params, runId: id },
    search: {},
  })
  const runs = heads.filter(({ id }) => marked.ids.has(id)).map(({ id }) => id)
  // The oldest of the marked runs is what the others are compared with.
  const compared = runs.toReversed().join(',')
  const compareNow = () =>
    runs.length > 1 &&
    void navigate({ to: '/p/$entity/$project/evaluations/compare', params, search: { runs: compared } })
  useKeys({
    compare: compareNow,
    mark: () => marked.toggle(Math.min(list.at, heads.length - 1)),
  })
  const columns = columnsOf({ zone, all, names, marked, progress, counts })
  const none = all.length === 0 && (
    <EmptyOfProject title="No evaluation runs yet">
      <p className="second">
        A run appears here when an SDK records <code>Evaluation.evaluate</code>, or when you call{' '}
        <code>POST /evaluations/evaluate_model</code>.
      </p>
      <pre tabIndex={0}>{`import weave
weave.init("${projectId}")
evaluation = weave.Evaluation(dataset=rows, scorers=[correct])
await evaluation.evaluate(model)`}</pre>
    </EmptyOfProject>
  )
  const trend = search.score !== undefined && names.includes(search.score) ? search.score : names[0]
  return (
    <ProjectPage title="Evaluations">
      <h1 className="hidden">Evaluations of {projectId}</h1>
      <div className="bar">
        <label className="field">
          <span className="dim">Evaluation</span>
          <Select
            value={search.evaluation ?? ''}
            of={[['', 'All'], ...evaluations.map((name) => [name, name.slice(0, 80)] as const)]}
            onValue={(value) => void navigate({ search: (old) => ({ ...old, evaluation: value || undefined }) })}
          />
        </label>
        <Button disabled={runs.length < 2} title="Mark two to five runs (x)" onClick={compareNow}>
          Compare {runs.length > 0 && runs.length}
        </Button>
        <Button whyNot={reason} onClick={() => setMaking(true)}>
          New run…
        </Button>
        <SavedComparisons projectId={projectId} />
        <span className="grow" />
        {trend !== undefined && heads.length > 1 && (
          <>
            <label className="field">
              <span className="dim">Score over runs</span>
              <Select
                value={trend}
                of={names.map((name) => [name, name.slice(0, 60)] as const)}
                onValue={(value) => void navigate({ search: (old) => ({ ...old, score: value }) })}
              />
            </label>
            <Trend values={heads.toReversed().flatMap((head) => meanReported(head, trend) ?? [])} label={trend} />
          </>
        )}
      </div>
      <Stale ms={list.staleMs} />
      <ListGrid
        list={list}
        items={heads}
        what="evaluation runs"
        none={none}
        label="Evaluation runs"
        columns={columns}
        minWidth={760 + names.length * 124}
        onRange={list.onRange}
        to={target}
        rowClass={({ status }) => (status === 'error' ? 'failed' : '')}
      />
      {isMaking && <NewRun projectId={projectId} onClose={() => setMaking(false)} />}
      <footer className="foot" role="status">
        <span className="num">{list.items && plural(heads.length, 'run')}</span>
        {all.length === listedRuns && <span className="dim">latest {listedRuns}</span>}
        <span className="grow" />
        <span className="dim">
          <kbd>x</kbd> mark · <kbd>c</kbd> compare · <kbd>Enter</kbd> open
        </span>
      </footer>
    </ProjectPage>
  )
}

const Ref = ({ text }: { text: string }) => (
  <span className="second" title={text.slice(0, 300)}>
    {text === '' ? <span className="dim">–</span> : <T text={refLabel(text)} max={80} />}
  </span>
)
