// Some values beside each other, one of which is chosen.
import type { ReactNode } from 'react'

type SegProps<Value extends string> = {
  label?: string
  value: string
  of: readonly (readonly [value: Value, shown: ReactNode])[]
  className?: string
  onValue(value: Value): void
}

export const Seg = <Value extends string>({ label, value, of, className = '', onValue }: SegProps<Value>) => (
  <div className={`seg ${className}`} {...(label !== undefined && { role: 'group', 'aria-label': label })}>
    {of.map(([one, shown]) => (
      <button key={one} type="button" aria-pressed={one === value} onClick={() => onValue(one)}>
        {shown}
      </button>
    ))}
  </div>
)
