// Pages that have nothing to show: not yet, or not at all.
import type { ReactNode } from 'react'

export const Loading = ({ what }: { what: string }) => (
  <div className="center">
    <span className="hidden" role="status">
      Loading {what}
    </span>
  </div>
)

/** A page without anything to list: what it is for, and what makes the first entry. */
export const Empty = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="scroll">
    <div className="page empty">
      <h1>{title}</h1>
      {children}
    </div>
  </div>
)
