// The values of a call: only calls with one, or without it; calls counted by it; its field as a column.
import { useQuery } from '@tanstack/react-query'
import { baseUrl, json } from '../api/client.ts'
import { type FieldValue, fieldValues, isField, literalOfJson, sentValues } from '../engine/call-values.ts'
import { type CallsSearch, maxChosenColumns } from '../engine/calls-search.ts'
import { narrowedLine } from '../engine/filter-acts.ts'
import { type Literal, literalText } from '../engine/query-text.ts'
import { opNameOf, type Row } from '../engine/rows.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { RefOrText } from '../parts/ref-link.tsx'
import { Second } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import { cellBytes } from './use-calls.ts'

type Value = {
  label: string
  /** Of a filter. */
  field: string
  value: Literal
  shown: string
  /** What calls can be counted by, and the column that shows it. */
  by: string | null
  column: string
}

/** @param models of the whole trace, where the row stands for it */
function plainValues(row: Row, models: readonly string[] | undefined): Value[] {
  const model = models === undefined ? row.model : models.join(', ')
  const plain: [label: string, field: string, value: string | null, by: string | null, column: string][] = [
    ['Operation', 'op', opNameOf(row.opName), 'op_name', ''],
    ['Status', 'status', row.status, 'status', ''],
    ['Key owner', 'user', row.userId, 'user', 'platform_user_id'],
    // Of several, one value would name none of them; and traces of one are no group beside those of several.
    ['Model', 'model', model?.includes(', ') ? null : model || null, models === undefined ? 'model' : null, ''],
    ['Thread', 'thread', row.threadId, 'thread_id', 'thread_id'],
    ['Trace', 'trace', row.traceId, null, 'trace_id'],
  ]
  return plain.flatMap(([label, field, value, by, column]) =>
    value === null ? [] : [{ label, field, value, shown: value, by, column }],
  )
}

/** Payloads are not read for more than this of them: then it is cells of the columns. */
async function cellsOf(projectId: string, id: string, paths: string[], signal: AbortSignal): Promise<FieldValue[]> {
  if (paths.length === 0) return []
  const { cells } = await json('calls.cells', { project_id: projectId, call_ids: [id], paths }, { signal })
  return paths.flatMap((path, place): FieldValue[] => {
    const cell = cells[id]?.[place]
    if (!cell || cell.is_cut) return []
    const value = literalOfJson(cell.type === 'string' ? JSON.stringify(cell.text) : cell.text)
    return value === undefined ? [] : [{ path, value }]
  })
}

/** What the payloads of a call hold; of large ones what the columns show. */
function useFields(projectId: string, { id, size }: Row, columns: readonly string[]) {
  const isLarge = (size ?? 0) > cellBytes
  const isOfPayload = (path: string) => /^(?:inputs|output|attributes|summary)\b/.test(path)
  const paths = columns.filter((path) => isOfPayload(path) && isField(path))
  const { data, error, isLoading, refetch } = useQuery({
    queryKey: ['call.values', projectId, id, isLarge && paths],
    queryFn: async ({ signal }) => {
      if (isLarge) return cellsOf(projectId, id, paths, signal)
      const [members = []] = await ask('callRows', [baseUrl, projectId, [id]], { signal })
      return fieldValues(members.filter(([name]) => isOfPayload(name)))
    },
  })
  return { found: data ?? [], error, isLoading, isLarge, refetch }
}

type MenuProps = {
  projectId: string
  row: Row
  models: readonly string[] | undefined
  columns: readonly string[]
  /** The filter of the list. */
  q: string
  onChange(next: Pick<CallsSearch, 'q' | 'cols' | 'by'>): void
  onClose(): void
}

export function ValuesOfRow({ projectId, row, models, columns, q, onChange, onClose }: MenuProps) {
  const own = useFields(projectId, row, columns)
  const values = [
    ...plainValues(row, models),
    ...sentValues(own.found).map(
      ({ name, path, value }): Value => ({
        label: name,
        field: name,
        value,
        shown: String(value),
        by: name,
        column: path,
      }),
    ),
  ]
  const shown = columns.filter((path) => path !== '-')
  const act = (next: Parameters<MenuProps['onChange']>[0]) => {
    onClose()
    onChange(next)
  }
  return (
    <Dialog title="Filter by a value of this call" onClose={onClose} className="wide">
      <ul className="values" aria-busy={own.isLoading}>
        {values.map(({ label, field, value, shown: text, by, column }) => {
          const term = `${field}:${literalText(value)}`
          const name = label.slice(0, 60)
          return (
            <li key={field}>
              <Second text={label} max={60} />
              <span className="value">
                <RefOrText text={text} max={120} />
              </span>
              <span className="acts">
                <Act label={`Only ${name}`} onPick={() => act({ q: narrowedLine(q, term) })}>
                  Only
                </Act>
                <Act label={`Without ${name}`} onPick={() => act({ q: narrowedLine(q, `-${term}`) })}>
                  Without
                </Act>
                {by !== null && (
                  <Act label={`Group by ${name}`} onPick={() => act({ by })}>
                    Group
                  </Act>
                )}
                {column !== '' && !columns.includes(column) && (
                  <Act
                    label={`${name} as a column`}
                    whyNot={shown.length >= maxChosenColumns ? `At most ${maxChosenColumns} columns` : undefined}
                    onPick={() => act({ cols: [...shown, column].join() })}
                  >
                    Column
                  </Act>
                )}
              </span>
            </li>
          )
        })}
      </ul>
      <p className="dim" role="status">
        {own.isLoading && 'Loading values…'}
        {own.isLarge && 'This call is large: only its columns are listed.'}
      </p>
      {own.error && <FaultBox error={own.error} onRetry={() => void own.refetch()} />}
    </Dialog>
  )
}

type ActProps = { label: string; whyNot?: string | undefined; onPick(): void; children: string }

const Act = ({ label, whyNot, onPick, children }: ActProps) => (
  <Button aria-label={label} whyNot={whyNot} onClick={onPick}>
    {children}
  </Button>
)
