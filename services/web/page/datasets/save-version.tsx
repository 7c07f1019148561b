// Makes a new version of a dataset from what was changed of its table.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { count } from '../engine/format.ts'
import type { Edits } from '../engine/table-edits.ts'
import { FormDialog } from '../parts/forms.tsx'
import { useProject } from '../parts/project.ts'
import { createVersion, editedTable, withTable } from './versions.ts'

/** The digest of the latest version, and its number. */
const useLatest = (projectId: string, objectId: string) =>
  useQuery({
    queryKey: ['object.latest', projectId, objectId],
    async queryFn({ signal }) {
      const asked = { project_id: projectId, object_id: objectId, digest: 'latest', metadata_only: true }
      const { obj } = await json('objects.read', asked, { signal })
      return { digest: obj.digest, index: obj.version_index }
    },
    staleTime: 0,
  })

type SaveProps = {
  objectId: string
  /** Digest of the version that was changed. */
  version: string
  table: string
  /** Rows of it. */
  stored: number
  /** Its value, as JSON. */
  value: string
  edits: Edits
  onSaved(digest: string): void
  onClose(): void
}

export function SaveVersion({ objectId, version, table, stored, value, edits, onSaved, onClose }: SaveProps) {
  const { entity, project, projectId } = useProject()
  const client = useQueryClient()
  const { data: latest } = useLatest(projectId, objectId)
  const [isSure, setSure] = useState(false)
  const isBehind = latest !== undefined && latest.digest !== version
  const said = [
    [edits.added.length, 'added'],
    [[...edits.changed.keys()].filter((index) => !edits.removed.has(index)).length, 'changed'],
    [edits.removed.size, 'removed'],
    [edits.columns.length, edits.columns.length === 1 ? 'column change' : 'column changes'],
  ] as const
  return (
    <FormDialog
      title="Save as version"
      act="Save"
      isReady={latest !== undefined && (!isBehind || isSure)}
      run={async () => {
        const digest = await editedTable(projectId, table, stored, edits)
        const made = await createVersion(projectId, objectId, withTable(projectId, value, digest))
        await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
        onSaved(made)
      }}
      onClose={onClose}
    >
      <p>
        {said
          .filter(([rows]) => rows > 0)
          .map(([rows, what]) => `${count(rows)} ${what}`)
          .join(', ')}
        . The version you edited is not changed.
      </p>
      {isBehind && (
        <>
          <p className="told-hint">
            <span>
              There is a newer{' '}
              <Link
                to="/p/$entity/$project/datasets/$objectId/$version"
                params={{ entity, project, objectId, version: latest.digest }}
                search={{}}
                target="_blank"
              >
                version {latest.index}
              </Link>
              . Its changes are not in yours.
            </span>
          </p>
          <label className="field">
            <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> Save mine as latest
          </label>
        </>
      )}
    </FormDialog>
  )
}
