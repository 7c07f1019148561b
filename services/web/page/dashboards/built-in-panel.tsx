// A panel of a dashboard that every project has: left out where there is nothing to show, and saved as a chart.
import { fieldOfPanel, type Panel } from '../engine/boards.ts'
import { ShownPanel } from './panel.tsx'
import type { Shared } from './panel-props.ts'
import { useHasField } from './use-has-field.ts'

/** @property reason why charts cannot be saved */
type Props = Shared & { panel: Panel; reason: string | undefined; onAdd(panel: Panel): void }

export function BuiltInPanel({ panel, reason, onAdd, ...shared }: Props) {
  const field = fieldOfPanel(panel)
  const { data, error } = useHasField(shared.requestOf, field)
  if (field !== undefined && data !== true && error === null) return null
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
