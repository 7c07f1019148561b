// The rows of a table: read as they come into view, one of them whole beside it, changed where that makes a version.
import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { count, plural } from '../engine/format.ts'
import { namesWithColumns } from '../engine/table-columns.ts'
import { columnNames } from '../engine/table-edits.ts'
import { Empty, Loading } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import type { RowsHandle } from '../parts/rows.tsx'
import { saveFile } from '../parts/save-file.ts'
import { Split } from '../parts/split.tsx'
import { T } from '../parts/text.tsx'
import { useRowHeight } from '../preferences.ts'
import { ask } from '../worker/client.ts'
import type { TableCell } from '../worker/tables.ts'
import { ColumnsForm } from './columns-form.tsx'
import { ImportRows } from './import-rows.tsx'
import { PasteCells } from './paste-cells.tsx'
import { RowForm } from './row-form.tsx'
import { RowReader } from './row-reader.tsx'
import type { TableEdits } from './use-edits.ts'
import { type Range, readRow, rowOfCells, rowWithColumns, useTable } from './use-table.ts'
import '../traces/trace.css'
import '../settings/settings.css'
import './datasets.css'

/** More columns are in the row that is opened. */
const maxColumns = 40

type Editing = TableEdits & {
  /** The reason why nothing may be changed. */
  whyNot: string | undefined
  save(): void
}

type GridProps = {
  projectId: string
  digest: string
  stored: number
  /** Name of the saved files. */
  name: string
  /** Row that is open, from the address. */
  row: number | undefined
  onRow(row: number | undefined): void
  /** Refs by which calls name a row of that digest. */
  refsOf?(row: string): string[]
  editing?: Editing
}

function CellView({ cell }: { cell: TableCell | undefined }) {
  if (cell === undefined) return null
  if (cell.kind === 'null') return <span className="dim">null</span>
  return <T text={cell.text.replaceAll('\n', ' ')} max={200} />
}

type Opened = { title: string; index: number | undefined; cells: readonly (readonly [string, string])[] }

export function TableGrid({ projectId, digest, stored, name, row, onRow, refsOf, editing }: GridProps) {
  const height = useRowHeight()
  const [range, setRange] = useState<Range>({ from: 0, to: 50 })
  const [at, setAt] = useState(row ?? 0)
  const [form, setForm] = useState<Opened>()
  const [dialog, setDialog] = useState<'import' | 'columns' | { pasted: string }>()
  const handle = useRef<RowsHandle>(null)
  const table = useTable(projectId, digest, range)
  // The row that the address names is in view at the start.
  const isThere = table.count !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when there are rows
  useEffect(() => {
    if (isThere && at > 0) handle.current?.reveal(at)
  }, [isThere])
  const total = stored + (editing?.edits.added.length ?? 0)
  const cellsAt = (index: number) => editing?.cellsAt(index)
  const changes = editing?.edits.columns ?? []
  const rowAt = (index: number) => {
    const edited = cellsAt(index)
    return edited ? rowOfCells(edited) : rowWithColumns(changes, table.rowAt(index))
  }
  const mayEdit = editing !== undefined && editing.whyNot === undefined
  const [names, setNames] = useState<readonly string[]>([])
  // Columns stay where they were once they are seen.
  const edited = editing
    ? [...editing.edits.changed.values(), ...editing.edits.added].map((cells) => rowOfCells(cells))
    : []
  const named = (all: readonly string[]) => all.map((one) => ({ name: one }))
  const storedNames = columnNames([named(names), ...table.rows.map(({ cells }) => cells)])
  if (storedNames.length !== names.length) setNames(storedNames)
  const seen = columnNames([named(namesWithColumns(changes, storedNames)), ...edited.map(({ cells }) => cells)])

  const edit = async (index: number) => {
    const cells = cellsAt(index) ?? (await readRow(projectId, digest, index, changes))?.cells
    if (cells) setForm({ title: `Row ${count(index + 1)}`, index, cells })
  }
  const toggle = (index: number) => {
    if (index < total) editing?.toggle(index)
    if (index >= stored && row === index) onRow(undefined)
  }
  useKeys(
    mayEdit && form === undefined && dialog === undefined
      ? { undo: editing.undo, redo: editing.redo, removeRow: () => toggle(Math.min(at, total - 1)) }
      : {},
  )
  const takesPaste = mayEdit && form === undefined && dialog === undefined && seen.length > 0
  useEffect(() => {
    if (!takesPaste) return
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (text === '' || (event.target as HTMLElement).closest('input, textarea, select, dialog')) return
      event.preventDefault()
      setDialog({ pasted: text })
    }
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [takesPaste])
  const columns: Column<number>[] = [
    {
      name: '\u0000place',
      head: '#',
      width: '6.4rem',
      isNumber: true,
      cell: (index) => (
        <span className="dim">
          {count(index + 1)} {editing?.isRemoved(index) ? '−' : cellsAt(index) ? (index < stored ? '•' : '+') : ''}
        </span>
      ),
    },
    ...seen.slice(0, maxColumns).map(
      (column): Column<number> => ({
        name: column,
        head: <T text={column} max={60} />,
        width: 'minmax(14rem, 1fr)',
        cell: (index) => <CellView cell={rowAt(index)?.cells.find((cell) => cell.name === column)} />,
      }),
    ),
  ]
  const items = useMemo(() => Array.from({ length: total }, (_, index) => index), [total])
  const closeForm = () => setForm(undefined)
  const shown = () => {
    if (table.error) return <FaultBox error={table.error} onRetry={table.refetch} />
    if (total === 0)
      return (
        <Empty title="No rows">
          <p className="second">This table is empty.</p>
        </Empty>
      )
    return (
      <Grid
        label="Rows"
        handle={handle}
        columns={columns}
        items={items}
        minWidth={64 + Math.min(seen.length, maxColumns) * 152}
        height={height}
        at={Math.min(at, total - 1)}
        onAt={(index) => {
          setAt(index)
          if (row !== undefined) onRow(index)
        }}
        onOpen={(index) => onRow(index)}
        onRange={(from, to) => setRange((before) => (before.from === from && before.to === to ? before : { from, to }))}
        rowClass={(index) => (editing?.isRemoved(index) ? 'removed' : cellsAt(index) ? 'edited' : '')}
      />
    )
  }
  return (
    <>
      <div className="bar" role="group" aria-label="Table">
        <span className="num">
          {plural(stored, 'row')}
          {seen.length > maxColumns && `, ${plural(seen.length, 'column')}, the first ${maxColumns} of them`}
        </span>
        <span className="grow" />
        {editing && (
          <EditActs
            editing={editing}
            onAdd={() => setForm({ title: 'New row', index: undefined, cells: [] })}
            onDialog={setDialog}
            hasColumns={seen.length > 0}
          />
        )}
        <Download projectId={projectId} digest={digest} stored={stored} name={name} />
      </div>
      <Split
        label="Row"
        isChosen={row !== undefined}
        reader={
          row !== undefined &&
          row < total && (
            <RowReader
              key={row}
              projectId={projectId}
              digest={digest}
              index={row}
              edited={cellsAt(row)}
              columns={changes}
              isRemoved={editing?.isRemoved(row) ?? false}
              {...(refsOf && { refsOf })}
              onEdit={mayEdit ? () => void edit(row) : undefined}
              onToggle={mayEdit ? () => toggle(row) : undefined}
              onDuplicate={
                mayEdit
                  ? (cells) => {
                      editing.add([cells])
                      setAt(total)
                      onRow(total)
                    }
                  : undefined
              }
              onClose={() => onRow(undefined)}
            />
          )
        }
      >
        {table.count === undefined && !table.error ? <Loading what="rows" /> : shown()}
      </Split>
      {dialog === 'import' && (
        <ImportRows names={seen} onDone={(rows) => editing?.add(rows)} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'columns' && (
        <ColumnsForm
          names={seen}
          stored={stored}
          onDone={(next) => editing?.changeColumns(next)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {typeof dialog === 'object' && editing && (
        <PasteCells
          projectId={projectId}
          digest={digest}
          stored={stored}
          editing={editing}
          names={seen}
          at={Math.max(0, Math.min(at, total - 1))}
          text={dialog.pasted}
          onClose={() => setDialog(undefined)}
        />
      )}
      {form && (
        <RowForm
          title={form.title}
          cells={form.cells}
          names={seen}
          onDone={(cells) => (form.index === undefined ? editing?.add([cells]) : editing?.change(form.index, cells))}
          onClose={closeForm}
        />
      )}
    </>
  )
}

type EditActsProps = {
  editing: Editing
  hasColumns: boolean
  onAdd(): void
  onDialog(dialog: 'import' | 'columns' | { pasted: string }): void
}

function EditActs({ editing, hasColumns, onAdd, onDialog }: EditActsProps) {
  const { whyNot, count: changes } = editing
  return (
    <>
      {changes > 0 && (
        <span className="num" role="status">
          {plural(changes, 'change')} not saved
        </span>
      )}
      <button type="button" className="line" disabled={whyNot !== undefined} title={whyNot} onClick={onAdd}>
        Add row…
      </button>
      <button
        type="button"
        className="line"
        disabled={whyNot !== undefined}
        title={whyNot}
        onClick={() => onDialog('import')}
      >
        Import…
      </button>
      <button
        type="button"
        className="line"
        disabled={whyNot !== undefined || !hasColumns}
        title={whyNot ?? 'Cells of a spreadsheet (Ctrl V)'}
        onClick={() => onDialog({ pasted: '' })}
      >
        Paste…
      </button>
      <button
        type="button"
        className="line"
        disabled={whyNot !== undefined || !hasColumns}
        title={whyNot}
        onClick={() => onDialog('columns')}
      >
        Columns…
      </button>
      {(editing.canUndo || editing.canRedo || changes > 0) && (
        <>
          <button type="button" className="line" disabled={!editing.canUndo} onClick={editing.undo}>
            Undo
          </button>
          <button type="button" className="line" disabled={!editing.canRedo} onClick={editing.redo}>
            Redo
          </button>
          <button type="button" className="line" disabled={changes === 0} onClick={editing.discard}>
            Discard
          </button>
          <button
            type="button"
            className="first"
            disabled={changes === 0 || whyNot !== undefined}
            onClick={editing.save}
          >
            Save as version…
          </button>
        </>
      )}
    </>
  )
}

type DownloadProps = Pick<GridProps, 'projectId' | 'digest' | 'stored' | 'name'>

/** File names hold letters, digits and few signs. */
const fileName = (name: string): string => name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100) || 'rows'

function Download({ projectId, digest, stored, name }: DownloadProps) {
  const saved = useMutation({
    async mutationFn(format: 'jsonl' | 'csv') {
      const blob = await ask('tableFile', [{ base: baseUrl, projectId, digest }, stored, format])
      saveFile(blob, `${fileName(name)}.${format}`)
    },
  })
  return (
    <>
      {saved.error && (
        <span className="s-error" role="alert">
          {saved.error.message.slice(0, 200)}
        </span>
      )}
      <Menu
        label="Download"
        className="line"
        button={
          <>
            {saved.isPending ? 'Reading…' : 'Download'} <Icon name="down" />
          </>
        }
      >
        {(close) =>
          (
            [
              ['jsonl', 'JSON Lines, as stored'],
              ['csv', 'CSV'],
            ] as const
          ).map(([format, label]) => (
            <button
              key={format}
              type="button"
              className="item"
              disabled={saved.isPending}
              onClick={() => {
                close()
                saved.mutate(format)
              }}
            >
              {label}
            </button>
          ))
        }
      </Menu>
    </>
  )
}
