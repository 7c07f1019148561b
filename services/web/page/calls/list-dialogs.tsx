// Dialogs over the list of calls; each comes with a chunk of its own.
import { lazy, Suspense } from 'react'
import type { CallsSearch, ListRequest } from '../engine/calls-search.ts'
import type { Row } from '../engine/rows.ts'
import { type TotalsOfRow, totalsIn } from '../engine/trace-totals.ts'
import type { Columns, Widths } from './columns.ts'

const ColumnChooser = lazy(() => import('../lazy-routes.tsx').then(({ ColumnChooser }) => ({ default: ColumnChooser })))
const ExportList = lazy(() => import('../lazy-routes.tsx').then(({ ExportList }) => ({ default: ExportList })))
const GroupsOfCalls = lazy(() => import('../lazy-routes.tsx').then(({ GroupsOfCalls }) => ({ default: GroupsOfCalls })))
const ValuesOfRow = lazy(() => import('../lazy-routes.tsx').then(({ ValuesOfRow }) => ({ default: ValuesOfRow })))
const WhatDiffers = lazy(() => import('../lazy-routes.tsx').then(({ WhatDiffers }) => ({ default: WhatDiffers })))

/** Those that the address does not say. */
export type OpenedDialog = 'columns' | 'export'

type DialogsProps = {
  projectId: string
  search: CallsSearch
  nowS: number
  request: ListRequest | undefined
  columns: readonly string[]
  placed: Columns
  widths: Widths
  total: number | undefined
  isBounded: boolean
  opened: OpenedDialog | undefined
  /** The row whose values are listed. */
  valued: { row: Row; totals: TotalsOfRow } | undefined
  onChange(next: CallsSearch): void
  onWidths(widths: Widths): void
  onClose(): void
}

export function ListDialogs(props: DialogsProps) {
  const { projectId, search, nowS, request, columns, opened, valued, onChange, onClose } = props
  return (
    <Suspense fallback={null}>
      {opened === 'columns' && (
        <ColumnChooser
          project={projectId}
          columns={columns}
          placed={props.placed}
          widths={props.widths}
          onChange={onChange}
          onWidths={props.onWidths}
          onClose={onClose}
        />
      )}
      {valued && (
        <ValuesOfRow
          projectId={projectId}
          row={valued.row}
          models={props.placed.ofTraces ? modelsOf(valued.totals) : undefined}
          columns={columns}
          q={search.q ?? ''}
          onChange={onChange}
          onClose={onClose}
        />
      )}
      {search.by !== undefined && request !== undefined && (
        <GroupsOfCalls
          search={search}
          request={request}
          nowS={nowS}
          by={search.by}
          onClose={() => onChange({ by: undefined })}
        />
      )}
      {search.differs !== undefined && request !== undefined && (
        <WhatDiffers
          projectId={projectId}
          search={search}
          nowS={nowS}
          onFilter={(q) => onChange({ q, differs: undefined })}
          onClose={() => onChange({ differs: undefined })}
        />
      )}
      {opened === 'export' && request !== undefined && (
        <ExportList
          request={request}
          columns={columns}
          total={props.total}
          isBounded={props.isBounded}
          onClose={onClose}
        />
      )}
    </Suspense>
  )
}

const modelsOf = (totals: TotalsOfRow): readonly string[] => totalsIn(totals)?.models ?? []
