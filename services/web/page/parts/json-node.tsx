// A line of a JSON view: a member with what it holds, in short.
import { useQuery } from '@tanstack/react-query'
import { bytes } from '../engine/format.ts'
import { isContentRef, maybePicture, withPictures } from '../engine/media.ts'
import { parsedRef } from '../engine/refs.ts'
import { ask } from '../worker/client.ts'
import type { NodeRow } from '../worker/documents.ts'
import { IconButton } from './button.tsx'
import { SmallMedia } from './media.tsx'
import { RefLink } from './ref-link.tsx'
import { T } from './text.tsx'

/** Previews end here. */
const maxRef = 200

export const isContainer = ({ kind }: { kind: string }): boolean => kind === 'object' || kind === 'array'

type NodeProps = {
  row: NodeRow | undefined
  path: number[]
  isOpen: boolean
  isAt: boolean
  isHit: boolean
  onToggle(): void
  onRead(row: NodeRow): void
  onMenu(): void
}

export function JsonNode({ row, path, isOpen, isAt, isHit, onToggle, onRead, onMenu }: NodeProps) {
  const style = { paddingLeft: 4 + (path.length - 1) * 14 }
  const place = path.at(-1) ?? 0
  if (row === undefined)
    return (
      <div className="row node" role="treeitem" aria-selected={isAt} aria-level={path.length} style={style}>
        <span className="sum">…</span>
      </div>
    )
  const opens = isContainer(row) || row.holdsJson
  const isLong = row.kind === 'string' && row.bytes > 120
  return (
    <div
      className={`row node${isAt ? ' at' : ''}${isHit ? ' hit' : ''}`}
      role="treeitem"
      aria-selected={isAt}
      aria-level={path.length}
      aria-expanded={opens ? isOpen : undefined}
      style={style}
    >
      {opens ? (
        <IconButton
          icon="right"
          tabIndex={-1}
          className={`twist${isOpen ? ' open' : ''}`}
          label={isOpen ? 'Close' : 'Open'}
          onClick={onToggle}
        />
      ) : (
        <span className="twist" />
      )}
      {row.key === null ? (
        <span className="dim">{place}</span>
      ) : (
        <span className="key">
          <T text={row.key} max={120} />
        </span>
      )}
      <span className="dim">:</span>
      <Value row={row} />
      {(isLong || row.holdsJson) && (
        <button type="button" tabIndex={-1} className="more" onClick={() => onRead(row)}>
          {row.holdsJson ? 'JSON as text' : `${bytes(row.bytes)} read`}
        </button>
      )}
      <button type="button" tabIndex={-1} className="more acts" aria-label="Actions of the value (.)" onClick={onMenu}>
        ⋯
      </button>
    </div>
  )
}

function Value({ row }: { row: NodeRow }) {
  if (isContainer(row)) {
    const size = row.count === null ? bytes(row.bytes) : String(row.count)
    return <span className="sum">{row.kind === 'array' ? `[ ${size} ]` : `{ ${size} }`}</span>
  }
  if (row.kind !== 'string') return <span className={`value v-${row.kind}`}>{row.preview}</span>
  // A cut one names something else.
  const ref = row.preview.length < maxRef ? parsedRef(row.preview) : undefined
  if (ref)
    return (
      <span className="value">
        {isContentRef(row.preview) ? (
          <SmallMedia
            projectId={`${ref.entity}/${ref.project}`}
            source={{ from: 'ref', ref: row.preview, name: ref.name }}
          >
            <RefLink text={row.preview} of={ref} tabIndex={-1} />
          </SmallMedia>
        ) : (
          <RefLink text={row.preview} of={ref} tabIndex={-1} />
        )}
      </span>
    )
  if (maybePicture(row.preview, row.bytes)) return <Drawn row={row} />
  return <Said text={row.preview} />
}

const Said = ({ text }: { text: string }) => (
  <span className="value v-string">
    <T text={text.replaceAll('\n', '↵')} max={200} />
  </span>
)

/** An image that is written into the value; its letters where they are none. */
function Drawn({ row: { doc, start, end, preview } }: { row: NodeRow }) {
  const { data } = useQuery({
    queryKey: ['picture', doc, start],
    queryFn: async () => withPictures(await ask('copy', [doc, start, end])),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    retry: false,
  })
  const [only, ...more] = data ?? []
  if (only === undefined || typeof only === 'string' || more.length > 0) return <Said text={preview} />
  return (
    <SmallMedia projectId="" source={only} label={only.name}>
      <Said text={preview} />
    </SmallMedia>
  )
}
