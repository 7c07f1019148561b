// What is wrong with the line that filters, and a press for each of what may be meant.
import type { Problem } from '../engine/filter-checks.ts'
import { fixesAmong } from '../engine/near-fields.ts'
import { Button } from '../parts/button.tsx'
import { T } from '../parts/text.tsx'
import { useFields } from './use-fields.ts'

type FixesProps = { project: string; problem: Problem; onChange(q: string): void }

export function Fixes({ project, problem, onChange }: FixesProps) {
  const { data } = useFields(project, '', problem.unknown !== undefined)
  return (
    <span className="meant" role="alert">
      <span className="s-error">
        <T text={problem.message} max={200} />.
      </span>{' '}
      {fixesAmong(problem, data).map(({ label, q }, n) => (
        <Button key={q} onClick={() => onChange(q)}>
          <T text={n > 0 || label.startsWith('"') ? `Search for ${label}` : `Did you mean ${label}?`} max={100} />
        </Button>
      ))}
    </span>
  )
}
