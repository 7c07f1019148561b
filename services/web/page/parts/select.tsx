// One of some values.
import type { ComponentProps } from 'react'

type SelectProps = Omit<ComponentProps<'select'>, 'onChange' | 'children'> & {
  value: string
  /** Labels by value. */
  of: Readonly<Record<string, string>> | readonly (readonly [value: string, label: string])[]
  onValue(value: string): void
}

export const Select = ({ of, onValue, ...rest }: SelectProps) => (
  <select onChange={({ target }) => onValue(target.value)} {...rest}>
    {(Array.isArray(of) ? of : Object.entries(of)).map(([one, label]) => (
      <option key={one} value={one}>
        {label}
      </option>
    ))}
  </select>
)
