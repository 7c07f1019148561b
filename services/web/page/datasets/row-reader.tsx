// One row of a table, whole, beside the grid.
import { bytes, count } from '../engine/format.ts'
import { type Member, objectText } from '../engine/json-texts.ts'
import type { ColumnChange } from '../engine/table-columns.ts'
import type { Cells } from '../engine/table-edits.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { UsedBy } from '../parts/used-by.tsx'
import { useRow } from './use-table.ts'

type ReaderProps = {
  projectId: string
  digest: string
  index: number
  /** The edited members, where they differ from the stored ones. */
  edited: readonly Member[] | undefined
  /** Changes of columns that are not saved. */
  columns: readonly ColumnChange[]
  isRemoved: boolean
  /** Refs by which calls name a stored row. */
  refsOf?(digest: string): string[]
  /** Nothing where rows cannot be changed. */
  onEdit: (() => void) | undefined
  onToggle: (() => void) | undefined
  /** Called with the cells of the copied row. */
  onDuplicate: ((cells: Cells) => void) | undefined
  onClose(): void
}

export function RowReader(props: ReaderProps) {
  const { projectId, digest, index, edited, columns, isRemoved, refsOf, onEdit, onToggle, onDuplicate, onClose } = props
  const { data, error, refetch } = useRow(projectId, digest, index, edited && objectText(edited), columns)
  return (
    <>
      <header>
        <h2 className="name">
          <span style={{ flex: 1 }}>
            Row {count(index + 1)}
            {isRemoved && <span className="s-error"> removed</span>}
          </span>
          <IconButton icon="close" label="Close row" onClick={onClose} />
        </h2>
        {(onEdit || onToggle) && (
          <div className="acts">
            <Button disabled={isRemoved} onClick={onEdit}>
              Edit…
            </Button>
            <Button onClick={onToggle}>{isRemoved ? 'Restore' : 'Remove'}</Button>
            <Button disabled={!data} onClick={() => data && onDuplicate?.(data.cells)}>
              Duplicate
            </Button>
          </div>
        )}
        {data?.digest !== undefined && refsOf && (
          <p className="row-users">
            <UsedBy projectId={projectId} refs={refsOf(data.digest)} />
          </p>
        )}
      </header>
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      {data === null && <p className="second">Row not found.</p>}
      {data && (
        <section aria-label="Row">
          <h3>
            Row <span className="grow" /> <span className="num">{bytes(data.node.end - data.node.start)}</span>
          </h3>
          <JsonView root={data.node} label="Row" name="row" />
        </section>
      )}
    </>
  )
}
