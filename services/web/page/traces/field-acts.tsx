// A value of a call as a condition of the list that the trace was opened from, for it or against it, as a group or a column.
import { useNavigate } from '@tanstack/react-router'
import { isField, literalOfJson } from '../engine/call-values.ts'
import { type CallsSearch, callsSearch, columnsOf, maxChosenColumns } from '../engine/calls-search.ts'
import { narrowedLine } from '../engine/filter-acts.ts'
import { jsonPath, type Segment } from '../engine/json-paths.ts'
import { literalText } from '../engine/query-text.ts'
import { Button } from '../parts/button.tsx'
import { listHref } from '../parts/remembered.ts'

/** The list before, or all calls of the project. */
function listBefore(projectId: string): CallsSearch {
  const href = listHref(projectId)
  if (href === '') return { view: 'all' }
  return callsSearch(Object.fromEntries(new URL(href, location.href).searchParams))
}

type Props = { projectId: string; path: readonly Segment[]; json: string; onClose(): void }

export function FieldActs({ projectId, path, json, onClose }: Props) {
  const navigate = useNavigate()
  const [entity = '', project = ''] = projectId.split('/')
  const field = jsonPath(path)
  const value = literalOfJson(json)
  if (!isField(field) || field.length > 400) return null
  const before = listBefore(projectId)
  // Calls of a trace are mostly no roots.
  const act = (next: CallsSearch) => {
    onClose()
    void navigate({
      to: '/p/$entity/$project/calls',
      params: { entity, project },
      search: { ...before, view: 'all', ...next },
    })
  }
  const columns = columnsOf(before.cols).filter((one) => one !== '-')
  const isFull = columns.length >= maxChosenColumns
  const term = value === undefined ? undefined : `${field}:${literalText(value)}`
  return (
    <div className="acts" role="group" aria-label="Calls by this value">
      {term !== undefined && (
        <>
          <Button onClick={() => act({ q: narrowedLine(before.q ?? '', term) })}>Only calls with this value</Button>
          <Button onClick={() => act({ q: narrowedLine(before.q ?? '', `-${term}`) })}>Without this value</Button>
          <Button onClick={() => act({ by: field })}>Group by this field</Button>
        </>
      )}
      {!columns.includes(field) && (
        <Button
          disabled={isFull}
          title={isFull ? `At most ${maxChosenColumns} columns` : undefined}
          onClick={() => act({ cols: [...columns, field].join() })}
        >
          Add column
        </Button>
      )}
    </div>
  )
}
