// The controls above a list whose first is a line to type in: in a narrow window that line has a line of its own, and the
// others one that is scrolled.
import { Children, type ReactNode } from 'react'
import { useIsWindow } from '../window-width.ts'

export function Bar({ role, children }: { role?: 'search'; children: ReactNode }) {
  const isNarrow = useIsWindow('narrow')
  if (!isNarrow)
    return (
      <div className="bar" role={role}>
        {children}
      </div>
    )
  const [line, ...others] = Children.toArray(children)
  return (
    <div className="bar of-lines" role={role}>
      {line}
      <div className="bar-rest">{others}</div>
    </div>
  )
}
