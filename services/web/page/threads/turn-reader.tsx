// A turn beside its thread: the spans of its trace, and the chosen one of them.
import { useRef } from 'react'
import { idAt } from '../engine/span-columns.ts'
import type { ThreadSearch } from '../engine/threads-search.ts'
import { lineOf } from '../engine/tree.ts'
import { IconButton } from '../parts/button.tsx'
import { scaled } from '../text-scale.ts'
import { Reader } from '../traces/reader.tsx'
import { type TreeHandle, TreeView } from '../traces/tree-view.tsx'
import { useTrace } from '../traces/use-trace.ts'

type Props = {
  projectId: string
  turn: string
  traceId: string
  search: ThreadSearch
  zone: string
  onChange(next: ThreadSearch): void
}

const allSpans = { query: '', onlyCritical: false, kind: '', minShare: 0 } as const
/** Lines of the tree that show before it scrolls. */
const treeLines = 8

export function TurnReader({ projectId, turn, traceId, search, zone, onChange }: Props) {
  const { trace } = useTrace(projectId, traceId)
  const handle = useRef<TreeHandle>(null)
  const tree = trace?.tree
  const call = search.call ?? turn
  const line = lineOf(tree, call)
  return (
    <>
      {trace && tree && tree.order.length > 1 && (
        <div className="turn-tree" style={{ height: scaled(24) * (Math.min(treeLines, tree.order.length) + 1) + 2 }}>
          <TreeView
            handle={handle}
            tree={tree}
            line={line}
            nowUs={trace.nowUs}
            view={allSpans}
            window={{ from: 0, to: Math.max(1, tree.endUs) }}
            onLine={(one) => onChange({ call: idAt(tree.spans.ids, tree.order[one] as number) })}
          />
        </div>
      )}
      <Reader
        projectId={projectId}
        zone={zone}
        tree={tree}
        line={line}
        id={call}
        tab={search.tab}
        onTab={(tab) => onChange({ tab })}
        acts={
          <IconButton
            icon="close"
            label="Close the turn"
            title="Close"
            onClick={() => onChange({ turn: undefined, call: undefined, tab: undefined })}
          />
        }
      />
    </>
  )
}
