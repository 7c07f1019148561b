// Limits and usage of a project: bars against its quotas, days, and keys.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { bytes } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { SaveForm, SectionHead, TextField } from '../parts/forms.tsx'
import type { Shapes } from '../routes.gen.ts'
import { numbersOf, textsOf } from './key-limits.tsx'
import { partsOf } from './project.ts'
import { Usage } from './usage.tsx'

type Limits = Shapes['projects.limits_update']['in']
type Name = keyof Limits

const groups: Record<string, Partial<Record<Name, string>>> = {
  'Per minute': {
    requests_per_minute: 'Requests',
    calls_per_minute: 'Calls',
    bytes_per_minute: 'Bytes',
  },
  Quotas: { bytes_per_day: 'Bytes in 24 hours', stored_bytes: 'Bytes stored' },
  Concurrent: {
    concurrent_reads: 'Reads',
    concurrent_exports: 'Exports',
    inference_concurrency: 'Inference',
  },
  'Per query': {
    query_seconds: 'Time in seconds',
    query_memory_bytes: 'Memory in bytes',
    query_rows: 'Rows read',
  },
}

function Form({ projectId, limits }: { projectId: string; limits: Limits }) {
  const [typed, setTyped] = useState(() => textsOf(limits))
  const next = numbersOf(typed)
  return (
    <SaveForm
      act="Save limits"
      run={() => json('projects.limits_update', next, { params: partsOf(projectId) })}
      isChanged={JSON.stringify(next) !== JSON.stringify(numbersOf(textsOf(limits)))}
      hint="Limits do not apply to requests of admins."
    >
      {Object.entries(groups).map(([group, members]) => (
        <fieldset key={group} className="set-group">
          <legend>{group}</legend>
          <div className="set-fields">
            {(Object.entries(members) as [Name, string][]).map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                hint={name.includes('bytes') && typed[name] ? bytes(Number(typed[name])) : undefined}
                type="number"
                aria-label={`${label}, ${group.toLowerCase()}`}
                min={0}
                step={1}
                placeholder="no limit"
                value={typed[name] ?? ''}
                onText={(text) => setTyped((before) => ({ ...before, [name]: text }))}
              />
            ))}
          </div>
        </fieldset>
      ))}
    </SaveForm>
  )
}

export function ProjectLimits({ projectId }: { projectId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'limits', projectId],
    queryFn: ({ signal }) => json('projects.settings_read', undefined, { params: partsOf(projectId), signal }),
  })
  return (
    <>
      <SectionHead title="Limits and usage">Limits and current usage of {projectId}. Updated every minute.</SectionHead>
      <Usage projectId={projectId} limits={data?.limits ?? {}} />
      <section className="part" aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        {error && data === undefined && <FaultBox error={error} onRetry={() => void refetch()} />}
        {data && <Form key={JSON.stringify(data.limits)} projectId={projectId} limits={data.limits} />}
      </section>
    </>
  )
}
