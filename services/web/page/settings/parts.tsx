// What sections are made of: a head, a table that becomes cards in narrow windows, fields, and questions before what
// cannot be taken back.
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'

export const SectionHead = ({ title, children, acts }: { title: string; children?: ReactNode; acts?: ReactNode }) => (
  <header className="section-head">
    <div>
      <h1>{title}</h1>
      {children && <p className="second">{children}</p>}
    </div>
    {acts && <div className="acts">{acts}</div>}
  </header>
)

export type SheetColumn<Item> = {
  head: string
  /** A track of a grid. */
  width: string
  isNumber?: boolean
  cell(item: Item): ReactNode
}

type SheetProps<Item> = {
  label: string
  columns: readonly SheetColumn<Item>[]
  /** Undefined while they are on their way. */
  items: readonly Item[] | undefined
  idOf(item: Item): string
  rowClass?(item: Item): string
  none: ReactNode
}

export function Sheet<Item>({ label, columns, items, idOf, rowClass, none }: SheetProps<Item>) {
  const gridTemplateColumns = columns.map(({ width }) => width).join(' ')
  const rows = items ?? []
  if (items?.length === 0) return <div className="none second">{none}</div>
  return (
    <div role="table" aria-label={label} aria-busy={items === undefined} className="sheet">
      <div role="row" className="sheet-row head" style={{ gridTemplateColumns }}>
        {columns.map(({ head, isNumber }) => (
          <span key={head} role="columnheader" className={isNumber ? 'num' : ''}>
            {head}
          </span>
        ))}
      </div>
      {items === undefined && (
        <div role="row" className="waiting">
          <span role="cell" className="hidden">
            Loading
          </span>
        </div>
      )}
      {rows.map((item) => (
        <div
          key={idOf(item)}
          role="row"
          className={`sheet-row ${rowClass?.(item) ?? ''}`}
          style={{ gridTemplateColumns }}
        >
          {columns.map(({ head, cell, isNumber }) => (
            <span key={head} role="cell" data-head={head} className={isNumber ? 'num' : ''}>
              {cell(item)}
            </span>
          ))}
        </div>
      ))}
    </div>
  )
}

export const Field = ({ label, hint, children }: { label: string; hint?: ReactNode; children: ReactNode }) => (
  <div className="set-field">
    {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is given */}
    <label>
      <span>{label}</span>
      {children}
    </label>
    {hint && <small className="second">{hint}</small>}
  </div>
)

export const Fault = ({ error }: { error: Error | null }) =>
  error && (
    <p className="told-fault" role="alert">
      <Icon name="error" /> {error.message.slice(0, 400)}
    </p>
  )

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <button
      type="button"
      className="line"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon name={isCopied ? 'success' : 'copy'} /> {isCopied ? 'Copied' : label}
    </button>
  )
}

type ConfirmProps = {
  title: string
  act: string
  run(): Promise<unknown>
  onClose(): void
  /** Once it is done; it closes unless told. */
  onDone?(): void
  children: ReactNode
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, act, run, onClose, onDone = onClose, children }: ConfirmProps) {
  const doing = useMutation({ mutationFn: run, onSuccess: onDone })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    doing.mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="set-form" onSubmit={submit}>
        <div>{children}</div>
        <Fault error={doing.error} />
        <div className="acts end">
          <button type="button" className="line" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="first danger" disabled={doing.isPending}>
            {act}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
