// A panel of a dashboard that every project has: left out where there is nothing to show, and saved as a chart.
import { useState } from 'react'
import { areManyToRead, fieldOfPanel, type Panel } from '../engine/boards.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { numberOr0 } from './figures.ts'
import { PanelBox, ShownPanel } from './panel.tsx'
import type { Shared } from './panel-props.ts'
import { useHasField } from './use-has-field.ts'

/** @property reason why charts cannot be saved */
type Props = Shared & { panel: Panel; reason: string | undefined; onAdd(panel: Panel): void }

export function BuiltInPanel({ panel, reason, onAdd, ...shared }: Props) {
  const field = fieldOfPanel(panel)
  const { data, error } = useHasField(shared.requestOf, field, panel.filter)
  // The range for which the reader has said that so many calls may be read.
  const [wanted, setWanted] = useState<string>()
  if (field !== undefined && data !== true && error === null) return null
  const calls = numberOr0(shared.whole.groups[0]?.total['calls.sum'])
  if (field !== undefined && areManyToRead(calls) && wanted !== shared.range)
    return (
      <PanelBox {...panel}>
        <p className="second">
          <Button onClick={() => setWanted(shared.range)}>Read {plural(calls, 'call')}</Button>
        </p>
      </PanelBox>
    )
  return (
    <ShownPanel
      {...shared}
      panel={panel}
      hidesEmpty
      acts={
        <button
          type="button"
          className="quiet"
          aria-label={`Save ${panel.title} as chart`}
          disabled={reason !== undefined}
          title={reason ?? 'Save as chart, in a dashboard of this project'}
          onClick={() => onAdd(panel)}
        >
          Save
        </button>
      }
    />
  )
}
