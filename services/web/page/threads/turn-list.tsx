// The turns of a thread beside its conversation, to jump to: by what was asked in each.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { count, moment } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import type { Outcome } from '../engine/trace-totals.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { askedQuery } from './thread-query.ts'

type Props = {
  projectId: string
  turns: readonly Row[]
  outcomeOf(turn: Row): Outcome
  first: number
  at: number
  zone: string
  onJump(index: number): void
}

export function TurnList({ projectId, turns, outcomeOf, first, at, zone, onJump }: Props) {
  const ids = useMemo(() => turns.map(({ id }) => id), [turns])
  const { data: asked } = useQuery({ ...askedQuery(projectId, ids), placeholderData: keepPreviousData })
  return (
    <nav className="turn-list" aria-label="Jump to a turn">
      {turns.map((turn, index) => {
        const { status, label } = outcomeOf(turn)
        const started = moment(turn.startedAt, zone)
        return (
          <button
            key={turn.id}
            type="button"
            aria-current={index === at ? 'location' : undefined}
            title={`${plainOf(turn.name, 60)}, ${started}`}
            onClick={() => onJump(index)}
          >
            <Icon name={status} label={label} className={`s-${status}`} />
            <span className="num">{count(first + index)}.</span>
            <span className="turn-name">
              <T text={asked?.get(turn.id) || `${turn.name} · ${started}`} max={60} />
            </span>
          </button>
        )
      })}
    </nav>
  )
}
