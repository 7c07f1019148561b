// A dataset that begins with the rows of a file or of pasted text.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { nameFault } from '../engine/object-names.ts'
import { ObjectName } from '../parts/object-name.tsx'
import { useProject } from '../parts/project.ts'
import { ImportRows } from './import-rows.tsx'
import { useDatasets } from './use-datasets.ts'
import { appendedVersion } from './versions.ts'
import './datasets.css'

export function NewDataset({ onClose }: { onClose(): void }) {
  const { entity, project, projectId } = useProject()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { items: datasets } = useDatasets(projectId)
  const [typed, setTyped] = useState('')
  const objectId = typed
  return (
    <ImportRows
      title="New dataset"
      names={[]}
      isReady={typed !== '' && datasets !== undefined && nameFault(typed, datasets) === undefined}
      head={
        <>
          <ObjectName typed={typed} taken={datasets} onType={setTyped} />
          {datasets?.includes(typed) && (
            <p className="second">After creating it, open the dataset to add or import rows.</p>
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
