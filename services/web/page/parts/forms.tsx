// Heads of sections, fields, forms that change settings, and questions before irreversible actions.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogActs } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { Input, type InputProps } from './input.tsx'
import { Menu } from './menu.tsx'
import { Select } from './select.tsx'
import './forms.css'

export const SectionHead = ({ title, children, acts }: { title: string; children?: ReactNode; acts?: ReactNode }) => (
  <header className="section-head">
    <div>
      <h1>{title}</h1>
      {children && <p className="second">{children}</p>}
    </div>
    {acts && <div className="acts">{acts}</div>}
  </header>
)

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

export const TextField = ({ label, hint, ...rest }: InputProps & { label: string; hint?: ReactNode }) => (
  <Field label={label} hint={hint}>
    <Input {...rest} />
  </Field>
)

type SelectFieldProps<Value extends string> = {
  label: string
  hint?: string
  value: NoInfer<Value>
  /** Label of each value. */
  of: Readonly<Record<Value, string>>
  onChange(value: NoInfer<Value>): void
}

/** One of some values. */
export const SelectField = <Value extends string>({ label, hint, value, of, onChange }: SelectFieldProps<Value>) => (
  <Field label={label} hint={hint}>
    <Select value={value} of={of} onValue={(one) => onChange(one as Value)} />
  </Field>
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
    <Button onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
      <Icon name={isCopied ? 'success' : 'copy'} /> {isCopied ? 'Copied' : label}
    </Button>
  )
}

/** Runs a change; afterwards, failed or not, what the page shows of the settings is read again. */
function useChange(run: () => Promise<unknown>, onDone?: () => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: run,
    onSettled: () => client.invalidateQueries({ queryKey: ['settings'] }),
    ...(onDone && { onSuccess: onDone }),
  })
}

const submitOf = (change: { mutate(): void }) => (event: FormEvent) => {
  event.preventDefault()
  change.mutate()
}

export type FormDialogProps = {
  title: string
  /** Label of the button that runs it. */
  act: string
  run(): Promise<unknown>
  /** Whether all that it needs is there. */
  isReady?: boolean
  isDangerous?: boolean
  onClose(): void
  /** Once it is done; it closes unless told. */
  onDone?(): void
  children: ReactNode
}

/** A form that changes something of the settings. */
export function FormDialog(props: FormDialogProps) {
  const { title, act, run, isReady = true, isDangerous = false, onClose, onDone = onClose, children } = props
  const change = useChange(run, onDone)
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="set-form" onSubmit={submitOf(change)}>
        {children}
        <Fault error={change.error} />
        <DialogActs onClose={onClose}>
          <button
            type="submit"
            className={isDangerous ? 'first danger' : 'first'}
            disabled={!isReady || change.isPending}
          >
            {act}
          </button>
        </DialogActs>
      </form>
    </Dialog>
  )
}

type SaveFormProps = {
  act: string
  run(): Promise<unknown>
  isChanged: boolean
  /** Meaning of a change, shown before it is saved. */
  hint: string
  /** Text while nothing is changed. */
  rest?: string
  children: ReactNode
}

/** A form of the page itself, whose button is on once something is changed. */
export function SaveForm({ act, run, isChanged, hint, rest, children }: SaveFormProps) {
  const change = useChange(run)
  return (
    <form className="set-form" onSubmit={submitOf(change)}>
      {children}
      <Fault error={change.error} />
      <div className="acts">
        <button type="submit" className="first" disabled={!isChanged || change.isPending}>
          {act}
        </button>
        <span className="second" role="status">
          {isChanged ? hint : (rest ?? (change.isSuccess ? 'Saved.' : ''))}
        </span>
      </div>
    </form>
  )
}

/** Asks before something that cannot be taken back. */
export const Confirm = ({ children, ...props }: FormDialogProps) => (
  <FormDialog isDangerous {...props}>
    <div>{children}</div>
  </FormDialog>
)

type RowButtonProps = { name: string; of: string; run(): void; isDangerous?: boolean; whyNot?: string | undefined }

/** A button of a row, whose name says which row it is of. @param whyNot why it is off */
export const RowButton = ({ name, of, run, isDangerous = false, whyNot }: RowButtonProps) => (
  <Button
    className={isDangerous ? 'line danger' : 'line'}
    whyNot={whyNot}
    aria-label={`${name.replace('…', '')} ${of}`}
    onClick={run}
  >
    {name}
  </Button>
)

export type RowAct = { name: string; run(): void; isDangerous?: boolean }

/** Acts of a row in a menu. */
export const RowMenu = ({ of, acts }: { of: string; acts: readonly RowAct[] }) => (
  <Menu label={`Actions of ${of}`} className="icon" button="⋯">
    {(close) =>
      acts.map(({ name, run, isDangerous }) => (
        <button
          key={name}
          type="button"
          className={isDangerous ? 'item danger' : 'item'}
          onClick={() => {
            close()
            run()
          }}
        >
          {name}
        </button>
      ))
    }
  </Menu>
)
