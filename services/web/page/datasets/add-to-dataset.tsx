// Calls as rows of a dataset: which fields, under which names, behind the rows of a dataset or in a new one.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { isWhole, rowName } from '../engine/call-cells.ts'
import { count, plural } from '../engine/format.ts'
import { type Member, plainText } from '../engine/json-texts.ts'
import { nameFault } from '../engine/object-names.ts'
import { plainOf } from '../engine/safe-text.ts'
import { columnNames } from '../engine/table-edits.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, FormDialog } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { ObjectName } from '../parts/object-name.tsx'
import { Select } from '../parts/select.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import { useDatasets } from './use-datasets.ts'
import { appendedVersion } from './versions.ts'
import './datasets.css'

/** Calls of one request, with their payloads. */
const batchCalls = 100
/** Calls whose fields are offered. */
const previewCalls = batchCalls
/** More rows are more than a table takes in one go. */
const maxCalls = 10_000

const chosenCells = (row: readonly Member[], names: ReadonlyMap<string, string>): Member[] =>
  row.flatMap(([column, text]) => {
    const name = names.get(column)
    return name === undefined ? [] : [[name, text] as const]
  })

/** Answers of people about calls, by the id of the call. */
type CallLabels = ReadonlyMap<string, readonly Member[]>

/** Answers stand behind what the call holds. */
const withLabels = (row: readonly Member[], labels: CallLabels | undefined): readonly Member[] => {
  const id = row.find(([name]) => name === 'id')?.[1]
  const said = id === undefined ? undefined : labels?.get(plainText(id))
  return said === undefined ? row : [...row, ...said.map(([name, text]) => [`${labelPrefix}${name}`, text] as const)]
}
const labelPrefix = 'label: '
const isLabel = (column: string): boolean => column.startsWith(labelPrefix)
/** Unless the reader chooses others. */
const isChosen = (column: string): boolean => isWhole(column) || isLabel(column)
const nameInRow = (column: string): string => (isLabel(column) ? column.slice(labelPrefix.length) : rowName(column))

/** Columns that are selected by default come first. */
const inOrder = (columns: readonly string[]): string[] =>
  [...columns.filter(isChosen), ...columns.filter((column) => !isChosen(column))].slice(0, 200)

type Made = { objectId: string; version: string; rows: number; empty: number; gone: number }

const emptyOf = (rows: readonly (readonly Member[])[], names: ReadonlyMap<string, string>): number =>
  rows.filter((row) => chosenCells(row, names).length === 0).length

/** Calls that become no rows, before and after. */
function LeftOut({ of, empty, gone, willBe }: { of: number; empty: number; gone: number; willBe?: boolean }) {
  return (
    <>
      {empty > 0 && (
        <p role="status">
          {count(empty)} of {count(of)} calls without these fields {willBe ? 'will be skipped' : 'skipped'}.
        </p>
      )}
      {gone > 0 && (
        <p role="status">
          {count(gone)} of {count(of)} calls no longer exist.
        </p>
      )}
    </>
  )
}

type Props = { projectId: string; ids: readonly string[]; labels?: CallLabels; onClose(): void }

export function AddToDataset({ projectId, ids, labels, onClose }: Props) {
  const [entity = '', project = ''] = projectId.split('/')
  const client = useQueryClient()
  const { items: datasets } = useDatasets(projectId)
  const [chosen, setChosen] = useState<string>()
  const [typed, setTyped] = useState('')
  const [names, setNames] = useState<ReadonlyMap<string, string>>()
  const [made, setMade] = useState<Made>()
  const [read, setRead] = useState(0)
  const first = useQuery({
    queryKey: ['calls.rows', 'wholes', projectId, ids.slice(0, previewCalls)],
    queryFn: ({ signal }) => ask('callRows', [baseUrl, projectId, ids.slice(0, previewCalls), 'wholes'], { signal }),
  })
  const sample = (first.data ?? []).map((row) => withLabels(row, labels))
  const labelled = [...new Set([...(labels?.values() ?? [])].flatMap((said) => said.map(([name]) => name)))]
  const columns = columnNames([
    ...sample.map((row) => row.map(([name]) => ({ name }))),
    labelled.map((name) => ({ name: `${labelPrefix}${name}` })),
  ])
  const shown = names ?? new Map(columns.filter(isChosen).map((column) => [column, nameInRow(column)]))
  const existing = chosen ?? ''
  const isNew = existing === ''
  const objectId = isNew ? typed : existing
  const isNamed = objectId !== '' && (!isNew || nameFault(typed, datasets) === undefined)
  const targets = [...shown.values()]
  const isTwice = new Set(targets).size < targets.length
  const calls = plural(ids.length, 'call')
  const run = async () => {
    const rows: Member[][] = []
    let found = 0
    for (let from = 0; from < ids.length; from += batchCalls) {
      const some = await ask('callRows', [baseUrl, projectId, ids.slice(from, from + batchCalls), 'wholes'])
      found += some.length
      rows.push(...some.map((row) => chosenCells(withLabels(row, labels), shown)).filter((row) => row.length > 0))
      setRead(Math.min(ids.length, from + batchCalls))
    }
    const version = await appendedVersion(projectId, objectId, isNew, rows)
    await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
    setMade({ objectId, version, rows: rows.length, empty: found - rows.length, gone: ids.length - found })
  }
  if (made)
    return (
      <Dialog title="Added to dataset" onClose={onClose}>
        <p role="status">
          {plural(made.rows, 'row')} added from {calls}:{' '}
          <Link
            to="/p/$entity/$project/datasets/$objectId/$version"
            params={{ entity, project, objectId: made.objectId, version: made.version }}
            search={{}}
          >
            <T text={made.objectId} max={80} />
          </Link>
        </p>
        <LeftOut of={ids.length} empty={made.empty} gone={made.gone} />
      </Dialog>
    )
  const isReady = first.data !== undefined && datasets !== undefined && ids.length <= maxCalls
  return (
    <FormDialog
      title={`Add ${calls} to dataset`}
      act="Add"
      isReady={isReady && isNamed && targets.length > 0 && !targets.includes('') && !isTwice}
      run={run}
      onDone={() => undefined}
      onClose={onClose}
    >
      {ids.length > maxCalls && <p className="s-error">At most {count(maxCalls)} calls at a time.</p>}
      <div className="set-fields">
        <Field label="Dataset">
          <Select
            value={existing}
            of={[['', 'New dataset'], ...(datasets ?? []).map((name) => [name, plainOf(name, 80)] as const)]}
            onValue={setChosen}
          />
        </Field>
        {isNew && <ObjectName typed={typed} taken={datasets} onType={setTyped} />}
      </div>
      <fieldset className="set-columns">
        <legend>Fields and column names</legend>
        {inOrder(columns).map((column) => (
          <Column
            key={column}
            column={column}
            name={shown.get(column)}
            sample={sample.flatMap((row) => row.filter(([one]) => one === column))[0]?.[1]}
            onChange={(name) => {
              const next = new Map(shown)
              if (name === undefined) next.delete(column)
              else next.set(column, name)
              setNames(next)
            }}
          />
        ))}
      </fieldset>
      {first.data !== undefined && ids.length <= previewCalls && (
        <LeftOut of={ids.length} empty={emptyOf(sample, shown)} gone={ids.length - sample.length} willBe />
      )}
      {isTwice && <p className="s-error">Two fields have the same name.</p>}
      <span className="second" role="status">
        {read > 0 && `${count(read)} of ${calls} read`}
      </span>
    </FormDialog>
  )
}

type ColumnProps = {
  column: string
  /** Undefined where it is left out. */
  name: string | undefined
  sample: string | undefined
  onChange(name: string | undefined): void
}

function Column({ column, name, sample = '', onChange }: ColumnProps) {
  const label = plainOf(column, 80)
  return (
    <div className="set-column">
      <label>
        <input
          type="checkbox"
          checked={name !== undefined}
          onChange={() => onChange(name === undefined ? nameInRow(column) : undefined)}
        />{' '}
        <T text={column} max={80} />
      </label>
      <Input
        aria-label={`Column name of ${label}`}
        disabled={name === undefined}
        value={name ?? ''}
        maxLength={1_000}
        onText={onChange}
      />
      <span className="dim">
        <T text={plainText(sample.slice(0, 400)).replaceAll('\n', ' ')} max={80} />
      </span>
    </div>
  )
}
