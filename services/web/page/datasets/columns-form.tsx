// Renames, removes and adds columns of a table: in all of its rows at one time.
import { useState } from 'react'
import { plural } from '../engine/format.ts'
import { jsonFault } from '../engine/json-texts.ts'
import { plainOf } from '../engine/safe-text.ts'
import type { ColumnChange } from '../engine/table-columns.ts'
import { IconButton } from '../parts/button.tsx'
import { FormDialog, TextField } from '../parts/forms.tsx'
import { Input } from '../parts/input.tsx'

/** Every row is written again. */
const maxRows = 100_000

type Edited = { name: string; to: string; isRemoved: boolean }
type Props = { names: readonly string[]; stored: number; onDone(changes: ColumnChange[]): void; onClose(): void }

/** Renames go by names that nothing has, so that two columns may change places. */
function changesOf(columns: readonly Edited[], added: { name: string; text: string } | undefined): ColumnChange[] {
  const removed = columns.filter(({ isRemoved }) => isRemoved)
  const renamed = columns.filter(({ name, to, isRemoved }) => !isRemoved && to !== name)
  const taken = new Set(columns.map(({ name }) => name))
  const isFree = renamed.every(({ to }) => !taken.has(to))
  const between = (n: number) => `\u0000${n}`
  const renames = isFree
    ? renamed.map(({ name, to }): ColumnChange => ({ is: 'rename', name, to }))
    : [
        ...renamed.map(({ name }, n): ColumnChange => ({ is: 'rename', name, to: between(n) })),
        ...renamed.map(({ to }, n): ColumnChange => ({ is: 'rename', name: between(n), to })),
      ]
  return [
    ...removed.map(({ name }): ColumnChange => ({ is: 'remove', name })),
    ...renames,
    ...(added ? [{ is: 'add' as const, ...added }] : []),
  ]
}

export function ColumnsForm({ names, stored, onDone, onClose }: Props) {
  const [columns, setColumns] = useState<Edited[]>(() => names.map((name) => ({ name, to: name, isRemoved: false })))
  const [newName, setNewName] = useState('')
  const [newText, setNewText] = useState('')
  const set = (place: number, next: Partial<Edited>) =>
    setColumns((before) => before.map((column, n) => (n === place ? { ...column, ...next } : column)))
  const isJson = newText.trim() !== '' && jsonFault(newText) === undefined
  const text = newText === '' ? 'null' : isJson ? newText.trim() : JSON.stringify(newText)
  const added = newName === '' ? undefined : { name: newName, text }
  const changes = changesOf(columns, added)
  const left = [...columns.filter(({ isRemoved }) => !isRemoved).map(({ to }) => to), ...(added ? [newName] : [])]
  const isTwice = new Set(left).size < left.length
  const isMuch = stored > maxRows
  return (
    <FormDialog
      title="Columns"
      act="Change columns"
      isReady={changes.length > 0 && !isTwice && !left.includes('') && left.length > 0 && !isMuch}
      run={async () => onDone(changes)}
      onClose={onClose}
    >
      {isMuch && <p className="s-error">Columns can only be changed in tables of up to {plural(maxRows, 'row')}.</p>}
      <fieldset className="set-columns">
        <legend>Column names</legend>
        {columns.map(({ name, to, isRemoved }, place) => {
          const label = plainOf(name, 80) || 'unnamed column'
          return (
            <div key={name} className="edited-column">
              <Input
                aria-label={`New name of ${label}`}
                value={to}
                maxLength={1_000}
                disabled={isRemoved}
                aria-invalid={to === '' || (isTwice && left.filter((one) => one === to).length > 1)}
                onText={(text) => set(place, { to: text })}
              />
              <IconButton
                icon="close"
                aria-pressed={isRemoved}
                label={`Remove ${label}`}
                title="Remove"
                onClick={() => set(place, { isRemoved: !isRemoved })}
              />
            </div>
          )
        })}
      </fieldset>
      {isTwice && <p className="s-error">Two columns have the same name.</p>}
      <div className="set-fields">
        <TextField label="New column" placeholder="None" maxLength={1_000} value={newName} onText={setNewName} />
        <TextField
          label="Value in each row"
          placeholder="null"
          value={newText}
          disabled={newName === ''}
          onText={setNewText}
        />
      </div>
      <p className="second">
        {newName !== '' && `Stored as ${isJson || newText === '' ? 'JSON' : 'text'}. `}
        All rows are rewritten when you save the version.
      </p>
    </FormDialog>
  )
}
