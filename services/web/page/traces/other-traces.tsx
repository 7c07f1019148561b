// Steps to the traces before and after this one in the list that it was opened from.

import { IconButton } from '../parts/button.tsx'
import type { neighbours } from '../parts/remembered.ts'

type Neighbours = ReturnType<typeof neighbours>

/** Buttons to the traces before and after this one in the list that it was opened from. */
export function OtherTraces({ of, onTrace }: { of: Neighbours; onTrace: (id: string | undefined) => void }) {
  if (of.of === 0) return null
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center' }}>
      <IconButton
        icon="left"
        label="Previous trace"
        title="Previous trace ( [ )"
        disabled={!of.previous}
        onClick={() => onTrace(of.previous)}
      />
      <span className="dim num">
        {of.place} / {of.of}
      </span>
      <IconButton
        icon="right"
        label="Next trace"
        title="Next trace ( ] )"
        disabled={!of.next}
        onClick={() => onTrace(of.next)}
      />
    </span>
  )
}
