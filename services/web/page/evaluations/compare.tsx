// Two to five evaluation runs side by side: what changed by score, then row by row, regressions first.
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type HTMLAttributes, useRef, useState } from 'react'
import type { ComparedRow, Comparison, Verdict } from '../engine/comparison.ts'
import { type RunHead, refLabel } from '../engine/evaluation-rows.ts'
import { count } from '../engine/format.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Empty, Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import { useProject } from '../parts/project.ts'
import { useReorder } from '../parts/reorder.ts'
import type { RowsHandle } from '../parts/rows.tsx'
import { Seg } from '../parts/seg.tsx'
import { T } from '../parts/text.tsx'
import { useListPlace } from '../parts/use-list.ts'
import { Heads } from './compare-heads.tsx'
import { ComparedCellView, ComparedReader } from './compared-row.tsx'
import { comparedOf } from './comparison-query.ts'
import { SaveComparison } from './saved.tsx'
import { runLetter } from './search.ts'
import { useComparison, useExamples, useRuns } from './use-runs.ts'
import './evaluations.css'

const route = '/signed-in/p/$entity/$project/evaluations/compare'
const rowHeight = 52

const filters = {
  regressed: 'Regressed',
  improved: 'Improved',
  different: 'Changed output',
  error: 'Errors',
  disagree: 'Scorers disagree',
} as const
type Filter = keyof typeof filters

/** One scorer says better, another one worse. */
function disagrees({ cells }: ComparedRow, lower: readonly boolean[]): boolean {
  const [first] = cells
  return cells.slice(1).some((cell) => {
    const changes = (cell?.scores ?? []).map((now, metric) => {
      const before = first?.scores[metric]
      return now === null || before === null || before === undefined ? 0 : (now - before) * (lower[metric] ? -1 : 1)
    })
    return Math.min(...changes) < 0 && Math.max(...changes) > 0
  })
}

const tests: Record<Filter, (row: ComparedRow, lower: readonly boolean[]) => boolean> = {
  regressed: ({ verdict }) => verdict === 'regressed',
  improved: ({ verdict }) => verdict === 'improved',
  different: ({ differs }) => differs,
  error: ({ cells }) => cells.some((cell) => cell?.error),
  disagree: disagrees,
}

const verdictNames: Record<Verdict, string> = {
  regressed: 'worse',
  error: 'fails now',
  improved: 'better',
  unscored: 'no score',
  same: 'same',
  partly: 'not in all runs',
}

export function CompareRuns() {
  const { projectId } = useProject()
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/evaluations/compare' })
  const compared = comparedOf(search)
  const { ids, lower, chosen } = compared
  const heads = useRuns(projectId, ids)
  const { data, error, refetch, isPlaceholderData } = useComparison(projectId, compared)
  const byId = new Map(heads.items?.map((head) => [head.id, head]))
  const runs = ids.map((id) => byId.get(id))
  const change = (next: Partial<typeof search>) => void navigate({ search: (old) => ({ ...old, ...next }) })
  const setRuns = (next: string[]) => change({ runs: next.join(',') })
  const reordered = useReorder((from, to) => setRuns(ids.toSpliced(from, 1).toSpliced(to, 0, ids[from] as string)))
  useKeys({ baseline: () => setRuns([...ids.slice(1), ...ids.slice(0, 1)]) })
  const fault = error ?? heads.error
  const body = () => {
    if (ids.length < 2)
      return (
        <Empty title="Choose runs to compare">
          <p className="second">Mark two to five runs in the list of evaluations, then compare them.</p>
        </Empty>
      )
    if (fault && data === undefined) return <FaultBox error={fault} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="the comparison" />
    return (
      <Compared
        data={data}
        ids={ids}
        runs={runs}
        lower={lower}
        chosen={chosen}
        filter={search.show as Filter | undefined}
        isPale={isPlaceholderData}
        onChange={change}
      />
    )
  }
  return (
    <ProjectPage title="Compare" crumb={<Crumb />}>
      <h1 className="hidden">Comparison of evaluation runs</h1>
      <div className="bar runs-bar">
        {ids.map((id, place) => (
          <RunChip
            key={id}
            id={id}
            place={place}
            head={runs[place]}
            drag={reordered(place)}
            onFirst={() => setRuns([id, ...ids.filter((one) => one !== id)])}
            onRemove={() => setRuns(ids.filter((one) => one !== id))}
          />
        ))}
        <span className="grow" />
        <SaveComparison runs={ids} metrics={chosen} />
      </div>
      {body()}
    </ProjectPage>
  )
}

function Crumb() {
  const { entity, project } = useProject()
  return (
    <Link to="/p/$entity/$project/evaluations" params={{ entity, project }} search={{}}>
      Evaluations
    </Link>
  )
}

type ChipProps = {
  id: string
  place: number
  head: RunHead | undefined
  drag: HTMLAttributes<HTMLElement>
  onFirst(): void
  onRemove(): void
}

function RunChip({ id, place, head, drag, onFirst, onRemove }: ChipProps) {
  const { entity, project } = useProject()
  const letter = runLetter(place)
  return (
    <span {...drag} className={`chip run run-${letter}`}>
      <b>{letter}</b>{' '}
      <Link to="/p/$entity/$project/evaluations/$runId" params={{ entity, project, runId: id }} search={{}}>
        <T text={head === undefined ? id.slice(-6) : refLabel(head.model || head.name)} max={40} />
      </Link>
      {place === 0 ? (
        <span className="dim"> baseline </span>
      ) : (
        <button type="button" aria-label={`Use ${letter} as baseline`} title="Use as baseline" onClick={onFirst}>
          <Icon name="left" />
        </button>
      )}
      <button type="button" aria-label={`Remove ${letter}`} title="Remove" onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  )
}

type ComparedProps = {
  data: Comparison
  ids: string[]
  runs: (RunHead | undefined)[]
  lower: string[]
  chosen: string[]
  filter: Filter | undefined
  isPale: boolean
  onChange(next: { show?: string | undefined; metrics?: string | undefined; lower?: string | undefined }): void
}

function Compared({ data, ids, runs, lower, chosen, filter, isPale, onChange }: ComparedProps) {
  const place = useListPlace(`${filter} ${ids.join()}`)
  const [opened, setOpened] = useState<ComparedRow>()
  const grid = useRef<RowsHandle>(null)
  const isLower = data.metrics.map((name) => lower.includes(name))
  const test = filter !== undefined && Object.hasOwn(tests, filter) ? tests[filter] : undefined
  const rows = test === undefined ? data.rows : data.rows.filter((row) => test(row, isLower))
  const at = Math.min(place.at, rows.length - 1)
  const exampleOf = useExamples(rows, place.range)
  const step = (by: 1 | -1) => {
    for (let next = at + by; next >= 0 && next < rows.length; next += by)
      if (rows[next]?.verdict === 'regressed') {
        place.onAt(next)
        grid.current?.reveal(next)
        return
      }
  }
  useKeys({ next: () => step(1), previous: () => step(-1) })
  const columns: Column<ComparedRow>[] = [
    {
      head: '#',
      width: '4.8rem',
      isNumber: true,
      narrow: { line: 1 },
      cell: ({ number }) => <span className="dim">{number}</span>,
    },
    {
      head: 'Change',
      width: '7.6rem',
      narrow: { line: 1 },
      cell: ({ verdict }) => <span className={`verdict v-${verdict}`}>{verdictNames[verdict]}</span>,
    },
    {
      head: 'Input',
      width: 'minmax(16rem, 1.2fr)',
      narrow: { line: 1, grows: true },
      cell: (row) => (
        <span className="two-lines">
          <T text={exampleOf(row).input} />
        </span>
      ),
    },
    {
      head: 'Expected',
      width: 'minmax(10rem, 0.8fr)',
      cell: (row) => (
        <span className="two-lines second">
          <T text={exampleOf(row).expected} />
        </span>
      ),
    },
    ...ids.map(
      (_, run): Column<ComparedRow> => ({
        head: runLetter(run),
        shownHead: <b>{runLetter(run)}</b>,
        width: 'minmax(20rem, 1.4fr)',
        narrow: { line: 2 + run, grows: true, label: runLetter(run) },
        cell: ({ cells }) => (
          <ComparedCellView cell={cells[run] ?? null} first={run === 0 ? null : (cells[0] ?? null)} isLower={isLower} />
        ),
      }),
    ),
  ]
  return (
    <>
      <Heads data={data} ids={ids} runs={runs} lower={lower} chosen={chosen} onChange={onChange} />
      <div className="bar">
        <Seg
          label="Which rows"
          className="wraps"
          value={filter ?? 'all'}
          of={(['all', ...(Object.keys(filters) as Filter[])] as const).map((name) => [
            name,
            name === 'all'
              ? `All ${count(data.rows.length)}`
              : `${filters[name]} ${count(data.rows.filter((row) => tests[name](row, isLower)).length)}`,
          ])}
          onValue={(name) => onChange({ show: name === 'all' ? undefined : name })}
        />
        <span className="grow" />
        <span className="dim">
          <kbd>Enter</kbd> side by side · <kbd>n</kbd> <kbd>p</kbd> next regression · <kbd>b</kbd> next baseline
        </span>
      </div>
      {rows.length === 0 ? (
        <div className="center">
          <p className="second">{data.rows.length === 0 ? 'These runs have no rows.' : 'No row matches.'}</p>
        </div>
      ) : (
        <Grid
          label="Rows of the runs"
          columns={columns}
          items={rows}
          minWidth={460 + ids.length * 212}
          height={rowHeight}
          place={place}
          onRange={place.onRange}
          onOpen={(row) => setOpened(row)}
          onKey={({ key, target, currentTarget }) => {
            const row = rows[at]
            if (key !== ' ' || target !== currentTarget || row === undefined) return false
            setOpened(row)
            return true
          }}
          handle={grid}
          className={isPale ? 'pale' : ''}
          rowClass={({ verdict }) => (verdict === 'regressed' || verdict === 'error' ? 'failed' : '')}
        />
      )}
      {opened && (
        <ComparedReader
          row={opened}
          example={exampleOf(opened)}
          metrics={data.metrics}
          isLower={isLower}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}
