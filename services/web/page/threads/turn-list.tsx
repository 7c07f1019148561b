// The turns of a thread beside its conversation, to jump to.

import { count } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import type { Outcome } from '../engine/trace-totals.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'

type Props = {
  turns: readonly Row[]
  outcomeOf(turn: Row): Outcome
  first: number
  at: number
  onJump(index: number): void
}

export function TurnList({ turns, outcomeOf, first, at, onJump }: Props) {
  return (
    <nav className="turn-list" aria-label="Jump to a turn">
      {turns.map((turn, index) => {
        const { status, label } = outcomeOf(turn)
        return (
          <button
            key={turn.id}
            type="button"
            aria-current={index === at ? 'location' : undefined}
            onClick={() => onJump(index)}
          >
            <Icon name={status} label={label} className={`s-${status}`} />
            <span className="num">{count(first + index)}.</span>
            <span className="turn-name">
              <T text={turn.name} max={60} />
            </span>
          </button>
        )
      })}
    </nav>
  )
}
