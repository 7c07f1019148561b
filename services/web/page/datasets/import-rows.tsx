// Rows of a file or of pasted text, shown as they will be before they stand behind the others.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { fileText } from '../engine/file-text.ts'
import { bytes, count, plural } from '../engine/format.ts'
import {
  formatOf,
  type Imported,
  type ImportFormat,
  importFormats,
  type Mapping,
  mappedRow,
} from '../engine/import-rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { type Cells, columnNames } from '../engine/table-edits.ts'
import { Field, FormDialog, TextField } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import { ScrollBox, ShortTable, ShortText } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'

const maxBytes = 32 * 2 ** 20
const maxRows = 50_000
/** Longer texts are not typed in again. */
const maxShown = 100_000
const previewRows = 5
const shownFaults = 20

const labels: Record<ImportFormat, string> = { csv: 'CSV', tsv: 'TSV', json: 'JSON', jsonl: 'JSON Lines' }

type Source = { text: string; name: string }
type Props = {
  title?: string
  /** Questions before the rows. */
  head?: ReactNode
  /** Columns that the table has. */
  names: readonly string[]
  /** Whether the head lets rows be added. */
  isReady?: boolean
  onDone(rows: Cells[]): void | Promise<void>
  onClose(): void
}

export function ImportRows({ title = 'Import rows', head, names, isReady = true, onDone, onClose }: Props) {
  const [source, setSource] = useState<Source>({ text: '', name: '' })
  const [format, setFormat] = useState<ImportFormat>()
  const [mapped, setMapped] = useState<ReadonlyMap<string, Partial<Mapping> | null>>(new Map())
  const [fault, setFault] = useState<string>()
  const found = useMemo(() => formatOf(source.text, source.name), [source])
  const used = format ?? found
  const { data, isFetching, error } = useQuery({
    queryKey: ['import', source, used],
    queryFn: () => ask('importRows', [source.text, used]),
    enabled: source.text.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const imported: Imported = data ?? { columns: [], rows: [], faults: [] }
  const mappings = imported.columns.flatMap(({ name, isJson }): Mapping[] => {
    const own = mapped.get(name)
    return own === null ? [] : [{ name, to: name, isJson, ...own }]
  })
  const targets = mappings.map(({ to }) => to)
  const isTwice = new Set(targets).size < targets.length
  const isMany = imported.rows.length > maxRows
  const take = (next: Source) => {
    setFault(undefined)
    setMapped(new Map())
    setSource(next)
  }
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > maxBytes) return setFault(`${bytes(file.size)} is too large: at most ${bytes(maxBytes)} at a time`)
    setFormat(undefined)
    take({ text: fileText(new Uint8Array(await file.arrayBuffer())), name: file.name })
  }
  const rows = plural(imported.rows.length, 'row')
  return (
    <FormDialog
      title={title}
      act={`Add ${rows}`}
      isReady={
        isReady &&
        !isFetching &&
        imported.rows.length > 0 &&
        !isMany &&
        targets.length > 0 &&
        !targets.includes('') &&
        !isTwice
      }
      run={async () => onDone(imported.rows.map((row) => mappedRow(row, mappings)).filter((cells) => cells.length > 0))}
      onClose={onClose}
    >
      {head}
      <div className="set-fields">
        <Field label="File">
          <input
            type="file"
            accept=".csv,.tsv,.tab,.psv,.ssv,.json,.jsonl,.ndjson,.jsonlines,.ldjson,.log,.txt,text/*"
            onChange={({ target }) => void read(target.files?.[0])}
          />
        </Field>
        <Field label="Format">
          <Select
            value={used}
            of={importFormats.map((one) => [one, labels[one]] as const)}
            onValue={(value) => setFormat(value as ImportFormat)}
          />
        </Field>
      </div>
      {source.text.length > maxShown ? (
        <p className="second">
          <T text={source.name || 'Pasted text'} max={80} />, {bytes(source.text.length)}
        </p>
      ) : (
        <TextField
          label="Or pasted text"
          className="pasted"
          rows={4}
          spellCheck={false}
          placeholder="Rows from a spreadsheet, CSV or JSON. The first line of a table has the column names."
          value={source.text}
          onText={(text) => take({ text: text, name: '' })}
        />
      )}
      {(fault ?? error?.message) && (
        <p className="s-error" role="alert">
          {(fault ?? error?.message ?? '').slice(0, 200)}
        </p>
      )}
      <p className="second" role="status">
        {data &&
          `${rows}${imported.faults.length > 0 ? `; ${plural(imported.faults.length, 'invalid row')} skipped` : ''}`}
      </p>
      {isMany && <p className="s-error">At most {plural(maxRows, 'row')} at a time.</p>}
      <Faults faults={imported.faults} />
      {imported.columns.length > 0 && (
        <fieldset className="set-columns">
          <legend>Fields and column names</legend>
          {imported.columns.slice(0, 200).map(({ name, isJson }) => (
            <MappedColumn
              key={name}
              name={name}
              mapping={mapped.get(name) === null ? undefined : { name, to: name, isJson, ...mapped.get(name) }}
              onChange={(next) => setMapped(new Map(mapped).set(name, next))}
            />
          ))}
          <datalist id="known-columns">
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </fieldset>
      )}
      {isTwice && <p className="s-error">Two columns have the same name.</p>}
      <Preview rows={imported.rows.slice(0, previewRows).map((row) => mappedRow(row, mappings))} />
    </FormDialog>
  )
}

function Faults({ faults }: { faults: Imported['faults'] }) {
  if (faults.length === 0) return null
  return (
    <ul className="import-faults" aria-label="Invalid rows">
      {faults.slice(0, shownFaults).map(({ line, reason }) => (
        <li key={`${line} ${reason}`} className="s-error">
          Line {count(line)}: <T text={reason} max={200} />
        </li>
      ))}
      {faults.length > shownFaults && <li>and {count(faults.length - shownFaults)} more</li>}
    </ul>
  )
}

type ColumnProps = {
  name: string
  /** Undefined where it is left out. */
  mapping: Mapping | undefined
  onChange(mapping: Partial<Mapping> | null): void
}

function MappedColumn({ name, mapping, onChange }: ColumnProps) {
  const label = plainOf(name, 80)
  const { to = '', isJson = false } = mapping ?? {}
  return (
    <div className="set-column">
      <label>
        <input type="checkbox" checked={mapping !== undefined} onChange={() => onChange(mapping ? null : {})} />{' '}
        <T text={name} max={80} />
      </label>
      <Input
        aria-label={`Column name of ${label}`}
        list="known-columns"
        disabled={mapping === undefined}
        value={to}
        maxLength={1_000}
        onText={(text) => onChange({ to: text, isJson })}
      />
      <Select
        aria-label={`Type of ${label}`}
        disabled={mapping === undefined}
        value={isJson ? 'json' : 'text'}
        of={{ text: 'Text', json: 'Numbers and JSON' }}
        onValue={(value) => onChange({ to, isJson: value === 'json' })}
      />
    </div>
  )
}

function Preview({ rows }: { rows: readonly Cells[] }) {
  if (rows.length === 0) return null
  const columns = columnNames(rows.map((row) => row.map(([name]) => ({ name })))).slice(0, 20)
  return (
    <ScrollBox about="Preview">
      <ShortTable
        label="First rows"
        columns={columns.map((name) => ({
          head: name,
          shownHead: <T text={name} max={40} />,
          cell: (row: Cells) => <ShortText json={row.find(([one]) => one === name)?.[1]} />,
        }))}
        items={rows}
        idOf={(_, n) => String(n)}
      />
    </ScrollBox>
  )
}
