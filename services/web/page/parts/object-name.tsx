// The name of a new object, and what is wrong with it while it is written.
import { nameFault } from '../engine/object-names.ts'
import { TextField } from './forms.tsx'

type Props = { typed: string; taken?: readonly string[] | undefined; onType(typed: string): void }

export function ObjectName({ typed, taken, onType }: Props) {
  const fault = nameFault(typed, taken)
  return (
    <TextField
      label="Name"
      hint={
        fault && (
          <span className="s-error" role="alert">
            {fault}
          </span>
        )
      }
      maxLength={200}
      aria-invalid={fault !== undefined}
      value={typed}
      onText={onType}
    />
  )
}
