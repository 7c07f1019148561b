// Rows of narrow windows: lines instead of columns, the most important cells first. All rows of a list have as many lines.
import type { ReactNode } from 'react'
import { scaled } from '../text-scale.ts'

/** Where a cell stands in a narrow window. */
export type NarrowPlace = {
  /** From 1. */
  line: number
  /** It takes what the others of its line leave, and is cut off where that is too little. */
  grows?: boolean
  /** Said before it, where the cell alone does not tell. */
  label?: string
}

const linePixels = 20

/** @param height of a row with one line */
export const heightOfLines = (height: number, lines: number): number => height + scaled(linePixels) * (lines - 1)

/** Cells in one line; between the row and its cells it means nothing. */
export const NarrowLine = ({ children }: { children: ReactNode }) => (
  <div role="presentation" className="narrow-line">
    {children}
  </div>
)

/** Name of a cell whose head is out of sight. */
export const NarrowLabel = ({ text }: { text: string }) => (
  <span className="dim narrow-label" aria-hidden="true">
    {text}{' '}
  </span>
)
