// Steps to the traces before and after this one in the list that it was opened from.

import { Icon } from '../parts/icon.tsx'
import type { neighbours } from '../parts/remembered.ts'

type Neighbours = ReturnType<typeof neighbours>

/** Buttons to the traces before and after this one in the list that it was opened from. */
export function OtherTraces({ of, onTrace }: { of: Neighbours; onTrace: (id: string | undefined) => void }) {
  if (of.of === 0) return null
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center' }}>
      <button
        type="button"
        className="icon"
        aria-label="Previous trace"
        title="Previous trace ( [ )"
        disabled={!of.previous}
        onClick={() => onTrace(of.previous)}
      >
        <Icon name="left" />
      </button>
      <span className="dim num">
        {of.place} / {of.of}
      </span>
      <button
        type="button"
        className="icon"
        aria-label="Next trace"
        title="Next trace ( ] )"
        disabled={!of.next}
        onClick={() => onTrace(of.next)}
      >
        <Icon name="right" />
      </button>
    </span>
  )
}
