// Props of a dashboard's panels.
import type { ReactNode } from 'react'
import type { Panel } from '../engine/boards.ts'
import type { Chart } from './chart.tsx'
import type { Aggregate } from './figures.ts'
import type { AskedAggregate } from './use-aggregate.ts'

/** Props that all panels of a page share. */
export type Shared = Pick<Parameters<typeof Chart>[0], 'zone' | 'at' | 'onAt'> & {
  /** The calls that are meant, narrowed by a term. */
  requestOf(term?: string): Omit<AskedAggregate, 'metrics'>
  bucket: AskedAggregate['bucket']
  whole: Aggregate
  compare: AskedAggregate['compare']
  /** Whether charts show the time before, too. */
  showsBefore: boolean
  range: string
  /** The filter of the page with one more term. */
  within(term: string): string
  /** Buckets of a chart were taken. @param filter of its panel */
  onTake(from: number, to: number, filter: string | undefined): void
}

export type PanelProps = Shared & {
  panel: Panel
  acts?: ReactNode
  /** A dashboard that every project has shows nothing where there is nothing. */
  hidesEmpty?: boolean
}
