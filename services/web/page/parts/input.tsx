// Fields for text.
import type { ComponentProps } from 'react'

export type InputProps = Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
  value: string
  /** So many lines instead of one. */
  rows?: number
  onText(text: string): void
}

export function Input({ rows, onText, ...rest }: InputProps) {
  const Field = (rows === undefined ? 'input' : 'textarea') as 'input'
  const kind = rows === undefined ? { type: 'text' } : { rows }
  return <Field {...kind} onChange={({ target }) => onText(target.value)} {...rest} />
}
