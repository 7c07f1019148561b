// Rows of a dataset as variables: one of them fills the form, all of a page are run by each model, and kept as a dataset.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { useDatasets } from '../datasets/use-datasets.ts'
import { appendedVersion, latestOf } from '../datasets/versions.ts'
import { count, plural } from '../engine/format.ts'
import { type Member, plainText } from '../engine/json-texts.ts'
import { nameFault } from '../engine/object-names.ts'
import { plainOf } from '../engine/safe-text.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Field } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { useProject } from '../parts/project.ts'
import { Select } from '../parts/select.tsx'
import { ScrollBox, ShortTable, ShortText } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import { type Draft, type ModelColumn, variablesOf } from './draft.ts'
import { MissingSecret } from './missing.tsx'
import { type Costs, figuresOf, rowTotals } from './row-figures.ts'
import type { Run } from './run.ts'
import { useCosts } from './use-costs.ts'
import { runOnce } from './use-run.ts'

const pageRows = 100
/** Requests that are under way at one time. */
const atOneTime = 4

type Row = readonly Member[]
type Results = ReadonlyMap<string, Run>
const keyOf = (row: number, { key }: ModelColumn): string => `${row} ${key}`

const useRows = (projectId: string, name: string) =>
  useQuery({
    queryKey: ['playground rows', projectId, name],
    enabled: name !== '',
    async queryFn(): Promise<Row[]> {
      const { table } = await latestOf(projectId, name)
      const asked = { base: baseUrl, projectId, digest: table }
      return (await ask('tableCells', [asked, 0, pageRows])).map(({ cells }) => cells)
    },
  })

/** Cells that are variables of the messages. */
const filled = (row: Row, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(row.flatMap(([name, text]) => (names.includes(name) ? [[name, plainText(text)]] : [])))

function useRunAll(projectId: string, draft: Draft, rows: readonly Row[]) {
  const [results, setResults] = useState<Results>(new Map())
  const [isRunning, setRunning] = useState(false)
  const control = useRef<AbortController>(undefined)
  const stop = () => control.current?.abort()
  useEffect(() => () => control.current?.abort(), [])
  const names = variablesOf(draft.messages)
  const columns = draft.columns.filter(({ model }) => model.trim() !== '')
  const run = async () => {
    const mine = new AbortController()
    control.current = mine
    setResults(new Map())
    setRunning(true)
    const tasks = rows.flatMap((row, n) => columns.map((column) => ({ row, n, column })))
    const next = async (): Promise<void> => {
      for (let task = tasks.shift(); task !== undefined && !mine.signal.aborted; task = tasks.shift()) {
        const { row, n, column } = task
        const own = { ...draft, variables: { ...draft.variables, ...filled(row, names) } }
        const done = await runOnce(projectId, own, column, mine.signal)
        setResults((before) => new Map(before).set(keyOf(n, column), done))
      }
    }
    await Promise.all(Array.from({ length: atOneTime }, next))
    setRunning(false)
  }
  return { results, isRunning, run, stop, names, columns }
}

type Props = {
  projectId: string
  draft: Draft
  /** The reason why no request may be sent. */
  whyNot: string | undefined
  onUse(variables: Record<string, string>): void
  onClose(): void
}

export function DatasetRows({ projectId, draft, whyNot, onUse, onClose }: Props) {
  const { items: datasets, error, refetch } = useDatasets(projectId)
  const [chosen, setChosen] = useState<string>()
  const name = chosen ?? datasets?.[0] ?? ''
  const found = useRows(projectId, name)
  const rows = found.data ?? []
  const { results, isRunning, run, stop, names, columns } = useRunAll(projectId, draft, rows)
  const shownNames = [...new Set(rows.flatMap((row) => row.map(([one]) => one)))].slice(0, 8)
  const fits = shownNames.some((one) => names.includes(one))
  const fault = error ?? found.error
  const isDone = !isRunning && results.size > 0
  const secret = [...results.values()].find((run) => run.secret !== null)?.secret
  const ids = isDone ? [...results.values()].flatMap(({ callId, fault }) => (fault === null ? (callId ?? []) : [])) : []
  const costs = useCosts(projectId, draft.keeps ? ids : [])
  return (
    <Dialog title="Run on dataset" onClose={onClose} className="wide">
      <div className="set-form">
        {fault && <FaultBox error={fault} onRetry={() => void Promise.all([refetch(), found.refetch()])} />}
        {datasets?.length === 0 && <p className="second">This project has no datasets yet.</p>}
        {datasets !== undefined && datasets.length > 0 && (
          <Field label="Dataset">
            <Select
              value={name}
              disabled={isRunning}
              of={datasets.map((one) => [one, plainOf(one, 80)] as const)}
              onValue={setChosen}
            />
          </Field>
        )}
        {rows.length > 0 && !fits && (
          <p className="told-hint">
            No column is a variable of the messages: write one in braces, such as {`{${shownNames[0] ?? 'question'}}`}.
          </p>
        )}
        <div className="acts">
          <Button
            className="first"
            whyNot={whyNot}
            disabled={rows.length === 0 || !fits || isRunning}
            onClick={() => void run()}
          >
            Run {plural(rows.length, 'row')}
          </Button>
          <Button disabled={!isRunning} onClick={stop}>
            Stop
          </Button>
          <span className="second" role="status">
            {results.size > 0 && `${count(results.size)} of ${plural(rows.length * columns.length, 'answer')}`}
          </span>
        </div>
        {secret !== undefined && secret !== null && <MissingSecret name={secret} />}
        {results.size > 0 && (
          <ul className="totals" aria-label="Totals by model">
            {columns.map((column) => (
              <li key={column.key}>
                <b>
                  <T text={column.model} max={60} />
                </b>{' '}
                <span className="second num">
                  {rowTotals(
                    rows.flatMap((_, n) => results.get(keyOf(n, column)) ?? []),
                    costs,
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
        {isDone && <Keep projectId={projectId} rows={rows} results={results} columns={columns} />}
        {rows.length > 0 && (
          <ScrollBox about="Rows and answers">
            <ShortTable
              label="Rows of the dataset"
              columns={[
                {
                  head: '#',
                  isRowHead: true,
                  cell: (row, n) => (
                    <Button
                      aria-label={`Use row ${n + 1}`}
                      onClick={() => {
                        onUse(filled(row, names))
                        onClose()
                      }}
                    >
                      {n + 1}
                    </Button>
                  ),
                },
                ...shownNames.map((one) => ({
                  key: `column ${one}`,
                  head: one,
                  shownHead: <T text={one} max={40} />,
                  cell: (row: Row) => <ShortText json={row.find(([name]) => name === one)?.[1]} max={160} />,
                })),
                ...columns.map((column) => ({
                  key: `model ${column.key}`,
                  head: column.model,
                  shownHead: <T text={column.model} max={40} />,
                  cell: (_: Row, n: number) => <Result run={results.get(keyOf(n, column))} costs={costs} />,
                })),
              ]}
              items={rows}
              idOf={(_, n) => String(n)}
            />
          </ScrollBox>
        )}
      </div>
    </Dialog>
  )
}

function Result({ run, costs }: { run: Run | undefined; costs: Costs }) {
  const { entity, project } = useProject()
  if (run === undefined) return null
  const { fault, answer, callId } = run
  return (
    <>
      {fault === null ? (
        <T text={answer.text || answer.refusal} max={400} />
      ) : (
        <span className="s-error">
          <T text={fault} max={200} />
        </span>
      )}
      <p className="second num">{figuresOf(run, costs)}</p>
      {callId && (
        <p>
          <Link to="/p/$entity/$project/calls/$id" params={{ entity, project, id: callId }}>
            View call
          </Link>
        </p>
      )}
    </>
  )
}

type KeepProps = { projectId: string; rows: readonly Row[]; results: Results; columns: readonly ModelColumn[] }

/** Rows with their answers become a dataset of their own, to be scored. */
function Keep({ projectId, rows, results, columns }: KeepProps) {
  const { entity, project } = useProject()
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const [state, setState] = useState<{ version: string; name: string } | { fault: string }>()
  const name = typed
  const nameIs = nameFault(typed)
  const save = async () => {
    const made = rows.map((row, n): Member[] => [
      ...row,
      ...columns.flatMap((column): Member[] => {
        const run = results.get(keyOf(n, column))
        const label = columns.length === 1 ? 'answer' : `answer of ${column.model}`
        return run === undefined || run.fault !== null ? [] : [[label, JSON.stringify(run.answer.text)]]
      }),
    ])
    try {
      const version = await appendedVersion(projectId, name, true, made)
      await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
      setState({ version, name })
    } catch (error) {
      setState({ fault: error instanceof Error ? error.message : 'Failed' })
    }
  }
  if (state && 'version' in state)
    return (
      <p role="status">
        Saved as{' '}
        <Link
          to="/p/$entity/$project/datasets/$objectId/$version"
          params={{ entity, project, objectId: state.name, version: state.version }}
          search={{}}
        >
          <T text={state.name} max={80} />
        </Link>
      </p>
    )
  return (
    <div className="acts">
      <label className="labelled">
        <span>Dataset name</span>
        <Input maxLength={120} value={typed} onText={setTyped} />
      </label>
      <Button disabled={typed === '' || nameIs !== undefined} onClick={() => void save()}>
        Save rows and answers
      </Button>
      {nameIs !== undefined && (
        <span className="s-error" role="alert">
          {nameIs}
        </span>
      )}
      {state && (
        <span className="s-error" role="alert">
          {state.fault.slice(0, 200)}
        </span>
      )}
    </div>
  )
}
