// Changes a row or makes one: a field for each of its cells, as text or as JSON.
import { useState } from 'react'
import { count } from '../engine/format.ts'
import { jsonFault, plainText } from '../engine/json-texts.ts'
import { plainOf } from '../engine/safe-text.ts'
import type { Cells } from '../engine/table-edits.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'

/** Longer cells stay as they are: no field takes them well. */
const maxCell = 65_536

/** `stored` is the JSON that the cell had, which is sent again as it is spelled while nobody has changed it. */
type FormCell = { key: number; name: string; isJson: boolean; text: string; stored: string | null; isChanged: boolean }

const cellOf = ([name, text]: Cells[number], key: number): FormCell => {
  const isJson = !text.startsWith('"')
  return { key, name, isJson, text: text.length > maxCell ? '' : plainText(text), stored: text, isChanged: false }
}
const emptyCell = (name: string, key: number): FormCell => ({
  key,
  name,
  isJson: false,
  text: '',
  stored: null,
  isChanged: true,
})

const jsonOf = ({ isJson, text, stored, isChanged }: FormCell): string =>
  !isChanged && stored !== null ? stored : isJson ? text.trim() : JSON.stringify(text)

const faultOf = (cell: FormCell): string | undefined =>
  cell.isJson && cell.isChanged ? jsonFault(cell.text) : undefined

type RowFormProps = {
  title: string
  /** Cells of the row; a new row has none. */
  cells: Cells
  /** Columns of the table, which a new row has as well. */
  names: readonly string[]
  onDone(cells: Cells): void
  onClose(): void
}

export function RowForm({ title, cells, names, onDone, onClose }: RowFormProps) {
  const [fields, setFields] = useState<FormCell[]>(() =>
    cells.length > 0 ? cells.map(cellOf) : names.map((name, key) => emptyCell(name, key)),
  )
  const change = (key: number, next: Partial<FormCell>) =>
    setFields((before) => before.map((field) => (field.key === key ? { ...field, ...next, isChanged: true } : field)))
  const used = fields.map(({ name }) => name)
  const isTwice = new Set(used).size < used.length
  const isReady = fields.length > 0 && !isTwice && !used.includes('') && !fields.some(faultOf)
  return (
    <FormDialog
      title={title}
      act={cells.length > 0 ? 'Save row' : 'Add row'}
      isReady={isReady}
      run={async () => onDone(fields.map((field) => [field.name, jsonOf(field)] as const))}
      onClose={onClose}
    >
      {fields.map((field) => (
        <CellField
          key={field.key}
          field={field}
          onChange={(next) => change(field.key, next)}
          onRemove={() => setFields((before) => before.filter(({ key }) => key !== field.key))}
        />
      ))}
      {isTwice && <p className="s-error">Two columns have the same name.</p>}
      <div className="acts">
        <Button
          onClick={() =>
            setFields((before) => [...before, emptyCell('', Math.max(-1, ...before.map(({ key }) => key)) + 1)])
          }
        >
          Add column
        </Button>
      </div>
    </FormDialog>
  )
}

type FieldProps = { field: FormCell; onChange(next: Partial<FormCell>): void; onRemove(): void }

function CellField({ field, onChange, onRemove }: FieldProps) {
  const { name, isJson, text, stored, isChanged } = field
  const label = plainOf(name, 80) || 'New column'
  const fault = faultOf(field)
  const isLong = !isChanged && (stored?.length ?? 0) > maxCell
  return (
    <fieldset className="cell-field">
      <legend className={stored === null && name === '' ? 'hidden' : ''}>{label}</legend>
      <div className="acts">
        {stored === null && (
          <Input
            aria-label="Column name"
            placeholder="Column name"
            value={name}
            maxLength={1_000}
            onText={(text) => onChange({ name: text })}
          />
        )}
        <Select
          aria-label={`Type of ${label}`}
          value={isJson ? 'json' : 'text'}
          disabled={isLong}
          of={{ text: 'Text', json: 'JSON' }}
          onValue={(value) => onChange({ isJson: value === 'json' })}
        />
        <IconButton icon="close" label={`Remove ${label}`} title="Remove" onClick={onRemove} />
      </div>
      {isLong ? (
        <p className="second">{count(stored?.length ?? 0)} characters: too long to edit here, kept unchanged.</p>
      ) : (
        <textarea
          aria-label={`Value of ${label}`}
          dir="auto"
          spellCheck={!isJson}
          rows={Math.min(12, Math.max(1, text.split('\n', 12).length, Math.ceil(text.length / 70)))}
          value={text}
          aria-invalid={fault !== undefined}
          onChange={({ target }) => onChange({ text: target.value })}
        />
      )}
      {fault && <small className="s-error">{fault.slice(0, 200)}</small>}
    </fieldset>
  )
}
