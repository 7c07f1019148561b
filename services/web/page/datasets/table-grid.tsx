// The rows of a table: read as they come into view, one of them whole beside it, changed where that makes a version.
import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, useEffect, useMemo, useRef, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { count, plural } from '../engine/format.ts'
import { namesWithColumns } from '../engine/table-columns.ts'
import { type Cells, columnNames } from '../engine/table-edits.ts'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import type { RowsHandle } from '../parts/rows.tsx'
import { saveFile } from '../parts/save-file.ts'
import { Split } from '../parts/split.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import type { TableCell, TableRow } from '../worker/tables.ts'
import { ColumnsForm } from './columns-form.tsx'
import { ImportRows } from './import-rows.tsx'
import { PasteCells } from './paste-cells.tsx'
import { RowForm } from './row-form.tsx'
import { RowReader } from './row-reader.tsx'
import type { TableEdits } from './use-edits.ts'
import { readRow, rowOfCells, rowWithColumns, useTable } from './use-table.ts'
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
type OpenedDialog = 'import' | 'columns' | { pasted: string }

/** The columns of what is seen: they stay where they were. */
function useColumnNames(stored: readonly TableRow[], editing: Editing | undefined): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([])
  const named = (all: readonly string[]) => all.map((one) => ({ name: one }))
  const storedNames = columnNames([named(names), ...stored.map(({ cells }) => cells)])
  if (storedNames.length !== names.length) setNames(storedNames)
  if (editing === undefined) return storedNames
  const { columns, changed, added } = editing.edits
  const edited = [...changed.values(), ...added].map((cells) => rowOfCells(cells).cells)
  return columnNames([named(namesWithColumns(columns, storedNames)), ...edited])
}

/** Takes cells that are pasted outside of any field. */
function usePaste(isOn: boolean, take: (text: string) => void): void {
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    if (!isOn) return
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (text === '' || (event.target as HTMLElement).closest('input, textarea, select, dialog')) return
      event.preventDefault()
      latest.current(text)
    }
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [isOn])
}

export function TableGrid({ projectId, digest, stored, name, row, onRow, refsOf, editing }: GridProps) {
  const [form, setForm] = useState<Opened>()
  const [dialog, setDialog] = useState<OpenedDialog>()
  const handle = useRef<RowsHandle>(null)
  const table = useTable(projectId, digest, row ?? 0)
  const total = stored + (editing?.edits.added.length ?? 0)
  const at = Math.min(table.at, total - 1)
  // The row that the address names is in view at the start.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the first rows
  useEffect(() => {
    if (at > 0) handle.current?.reveal(at)
  }, [])
  const cellsAt = (index: number) => editing?.cellsAt(index)
  const changes = editing?.edits.columns ?? []
  const rowAt = (index: number) => {
    const edited = cellsAt(index)
    return edited ? rowOfCells(edited) : rowWithColumns(changes, table.rowAt(index))
  }
  const mayEdit = editing !== undefined && editing.whyNot === undefined
  const seen = useColumnNames(table.items ?? [], editing)
  const edit = async (index: number) => {
    const cells = cellsAt(index) ?? (await readRow(projectId, digest, index, changes))?.cells
    if (cells) setForm({ title: `Row ${count(index + 1)}`, index, cells })
  }
  const toggle = (index: number) => {
    if (index < total) editing?.toggle(index)
    if (index >= stored && row === index) onRow(undefined)
  }
  const duplicate = (cells: Cells) => {
    editing?.add([cells])
    table.onAt(total)
    onRow(total)
  }
  const isFree = mayEdit && form === undefined && dialog === undefined
  useKeys(isFree ? { undo: editing.undo, redo: editing.redo, removeRow: () => toggle(at) } : {})
  usePaste(isFree && seen.length > 0, (pasted) => setDialog({ pasted }))
  const columns: Column<number>[] = [
    {
      key: '\u0000place',
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
        head: column,
        shownHead: <T text={column} max={60} />,
        width: 'minmax(14rem, 1fr)',
        cell: (index) => <CellView cell={rowAt(index)?.cells.find((cell) => cell.name === column)} />,
      }),
    ),
  ]
  const items = useMemo(() => Array.from({ length: total }, (_, index) => index), [total])
  const shown = () => {
    if (table.error) return <FaultBox error={table.error} onRetry={table.refetch} />
    if (total === 0)
      return (
        <Empty title="No rows">
          <p className="second">This table is empty.</p>
        </Empty>
      )
    const onAt = (index: number) => {
      table.onAt(index)
      if (row !== undefined) onRow(index)
    }
    return (
      <Grid
        label="Rows"
        handle={handle}
        columns={columns}
        items={items}
        minWidth={64 + Math.min(seen.length, maxColumns) * 152}
        place={{ at, onAt }}
        onOpen={(index) => onRow(index)}
        onRange={table.onRange}
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
              onDuplicate={mayEdit ? duplicate : undefined}
              onClose={() => onRow(undefined)}
            />
          )
        }
      >
        {shown()}
      </Split>
      {editing && dialog && (
        <EditDialog
          dialog={dialog}
          names={seen}
          at={Math.max(0, at)}
          {...{ projectId, digest, stored, editing }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {form && (
        <RowForm
          title={form.title}
          cells={form.cells}
          names={seen}
          onDone={(cells) => (form.index === undefined ? editing?.add([cells]) : editing?.change(form.index, cells))}
          onClose={() => setForm(undefined)}
        />
      )}
    </>
  )
}

type EditDialogProps = Omit<ComponentProps<typeof PasteCells>, 'text' | 'editing'> & {
  dialog: OpenedDialog
  editing: Editing
}

function EditDialog({ dialog, ...rest }: EditDialogProps) {
  const { names, stored, editing, onClose } = rest
  if (dialog === 'import') return <ImportRows names={names} onDone={editing.add} onClose={onClose} />
  if (dialog === 'columns')
    return <ColumnsForm names={names} stored={stored} onDone={editing.changeColumns} onClose={onClose} />
  return <PasteCells {...rest} text={dialog.pasted} />
}

type EditActsProps = {
  editing: Editing
  hasColumns: boolean
  onAdd(): void
  onDialog(dialog: OpenedDialog): void
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
      <Button whyNot={whyNot} onClick={onAdd}>
        Add row…
      </Button>
      <Button whyNot={whyNot} onClick={() => onDialog('import')}>
        Import…
      </Button>
      <Button
        disabled={whyNot !== undefined || !hasColumns}
        title={whyNot ?? 'Cells of a spreadsheet (Ctrl V)'}
        onClick={() => onDialog({ pasted: '' })}
      >
        Paste…
      </Button>
      <Button whyNot={whyNot} disabled={!hasColumns} onClick={() => onDialog('columns')}>
        Columns…
      </Button>
      {(editing.canUndo || editing.canRedo || changes > 0) && (
        <>
          <Button disabled={!editing.canUndo} onClick={editing.undo}>
            Undo
          </Button>
          <Button disabled={!editing.canRedo} onClick={editing.redo}>
            Redo
          </Button>
          <Button disabled={changes === 0} onClick={editing.discard}>
            Discard
          </Button>
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
