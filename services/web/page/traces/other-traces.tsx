// Steps to the traces before and after this one in the list that it was opened from.

import { count } from '../engine/format.ts'
import { IconButton } from '../parts/button.tsx'
import type { neighbours } from '../parts/remembered.ts'

type Neighbours = ReturnType<typeof neighbours>

/** Buttons to the traces before and after this one in the list that it was opened from. */
export function OtherTraces({ of, onTrace }: { of: Neighbours; onTrace: (id: string | undefined) => void }) {
  if (of.of === 0) return null
  const isLastHere = !of.next && (of.isMore || of.place < of.of)
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
        Trace {count(of.place)} of {count(of.of)}
        {of.isMore && '+'}
      </span>
      <IconButton
        icon="right"
        label="Next trace"
        title={isLastHere ? 'The list was loaded up to this trace' : 'Next trace ( ] )'}
        disabled={!of.next}
        onClick={() => onTrace(of.next)}
      />
    </span>
  )
}
