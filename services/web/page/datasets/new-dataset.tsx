// A dataset that begins with the rows of a file or of pasted text.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useProject } from '../frame/project-page.tsx'
import { Field } from '../settings/parts.tsx'
import { ImportRows } from './import-rows.tsx'
import { useDatasets } from './use-datasets.ts'
import { appendedVersion } from './versions.ts'
import '../settings/settings.css'
import './datasets.css'

export function NewDataset({ onClose }: { onClose(): void }) {
  const { entity, project, projectId } = useProject()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { data: datasets } = useDatasets(projectId)
  const [typed, setTyped] = useState('')
  const objectId = typed.trim().replaceAll(/[^\w.-]+/g, '-')
  const isKnown = datasets?.includes(objectId) === true
  return (
    <ImportRows
      title="New dataset"
      names={[]}
      isReady={/\w/.test(objectId) && datasets !== undefined && !isKnown}
      head={
        <>
          <Field label="Name">
            <input type="text" maxLength={120} value={typed} onChange={({ target }) => setTyped(target.value)} />
          </Field>
          {isKnown && (
            <p className="s-error" role="alert">
              There is a dataset of this name: open it to import rows into it.
            </p>
          )}
        </>
      }
      onDone={async (rows) => {
        const version = await appendedVersion(projectId, objectId, true, rows)
        await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
        await navigate({
          to: '/p/$entity/$project/datasets/$objectId/$version',
          search: {},
          params: { entity, project, objectId, version },
        })
      }}
      onClose={onClose}
    />
  )
}
