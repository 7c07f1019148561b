// Cells of a spreadsheet over rows of the table: from which row and column on, with how it will be.
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { count, plural } from '../engine/format.ts'
import { pastedRows, rectangleOf } from '../engine/pasted-cells.ts'
import { plainOf } from '../engine/safe-text.ts'
import { membersWithColumns } from '../engine/table-columns.ts'
import type { Cells } from '../engine/table-edits.ts'
import { Field, FormDialog, TextField } from '../parts/forms.tsx'
import { Select } from '../parts/select.tsx'
import { ScrollBox, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import type { TableEdits } from './use-edits.ts'

const maxRows = 5_000
const readRows = 500
const previewRows = 5

type Props = {
  projectId: string
  digest: string
  stored: number
  names: readonly string[]
  /** The row at hand. */
  at: number
  text: string
  editing: TableEdits
  onClose(): void
}

/** Rows as they are now, whoever has changed them. */
async function rowsNow({ projectId, digest, stored, editing }: Props, from: number, to: number): Promise<Cells[]> {
  const rows: Cells[] = []
  const asked = { base: baseUrl, projectId, digest }
  for (let offset = from; offset < Math.min(to, stored); offset += readRows) {
    const some = await ask('tableCells', [asked, offset, Math.min(readRows, Math.min(to, stored) - offset)])
    rows.push(...some.map(({ cells }) => membersWithColumns(editing.edits.columns, cells)))
  }
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => editing.cellsAt(from + n) ?? rows[n] ?? [])
}

export function PasteCells(props: Props) {
  const { stored, names, at, editing, onClose } = props
  const [text, setText] = useState(props.text)
  const [column, setColumn] = useState(names[0] ?? '')
  const [row, setRow] = useState(String(at + 1))
  const total = stored + editing.edits.added.length
  const from = /^[1-9]\d{0,9}$/.test(row) ? Number(row) - 1 : undefined
  const rectangle = text === '' ? [] : rectangleOf(text)
  const width = Math.max(0, ...rectangle.slice(0, maxRows).map((line) => line.length))
  const columns = names.slice(Math.max(0, names.indexOf(column)))
  const changed = from === undefined ? 0 : Math.max(0, Math.min(rectangle.length, total - from))
  const added = rectangle.length - changed
  const fault =
    rectangle.length > maxRows
      ? `At most ${plural(maxRows, 'row')} at a time.`
      : width > columns.length
        ? `${plural(width, 'column')} copied, but only ${count(columns.length)} available from here.`
        : from === undefined || from > total
          ? `Enter a row from 1 to ${count(total + 1)}.`
          : undefined
  const run = async () => {
    if (from === undefined) return
    const rows = await rowsNow(props, from, from + changed)
    const [last = []] = added > 0 && total > 0 ? await rowsNow(props, total - 1, total) : []
    editing.paste(from, pastedRows(rows, last, columns, rectangle))
  }
  return (
    <FormDialog
      title="Paste cells"
      act={`Paste ${count(rectangle.length)} × ${count(width)} cells`}
      isReady={rectangle.length > 0 && fault === undefined}
      run={run}
      onClose={onClose}
    >
      <TextField
        label="Cells of a spreadsheet"
        className="pasted"
        rows={4}
        spellCheck={false}
        value={text}
        onText={setText}
      />
      <div className="set-fields">
        <TextField label="From row" inputMode="numeric" value={row} onText={setRow} />
        <Field label="From column">
          <Select value={column} of={names.map((name) => [name, plainOf(name, 80)] as const)} onValue={setColumn} />
        </Field>
      </div>
      {rectangle.length > 0 && (
        <p className={fault === undefined ? 'second' : 's-error'} role="status">
          {fault ?? `${plural(changed, 'row')} changed, ${count(added)} added.`}
        </p>
      )}
      {rectangle.length > 0 && width <= columns.length && (
        <ScrollBox about="Preview">
          <ShortTable
            label="First rows"
            columns={columns.slice(0, Math.min(width, 20)).map((name, n) => ({
              head: name,
              shownHead: <T text={name} max={40} />,
              cell: (line: string[]) => <T text={(line[n] ?? '').replaceAll('\n', ' ')} max={60} />,
            }))}
            items={rectangle.slice(0, previewRows)}
            idOf={(_, n) => String(n)}
          />
        </ScrollBox>
      )}
    </FormDialog>
  )
}
