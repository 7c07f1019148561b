// Makes a new version of a dataset from what was changed of its table.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { JsonText, send } from '../api/send.ts'
import { count } from '../engine/format.ts'
import { withMember } from '../engine/json-texts.ts'
import { batchesOf, type Edits, updatesOf } from '../engine/table-edits.ts'
import { useProject } from '../frame/project-page.tsx'
import { FormDialog } from '../settings/parts.tsx'

/** Of one request. */
const maxUpdates = 1_000
const maxLength = 4 * 2 ** 20

const tableRef = (projectId: string, digest: string): string => `weave:///${projectId}/table/${digest}`

/** A table with the changes, and its digest. @throws ApiFault */
async function updatedTable(projectId: string, digest: string, edits: Edits): Promise<string> {
  let at = digest
  for (const updates of batchesOf(updatesOf(edits), maxUpdates, maxLength)) {
    const head = JSON.stringify({ project_id: projectId, base_digest: at }).slice(0, -1)
    const response = await send(baseUrl, 'tables.update', new JsonText(`${head},"updates":[${updates.join(',')}]}`))
    at = ((await response.json()) as { digest: string }).digest
  }
  return at
}

/** A version of an object whose value is given as JSON. @throws ApiFault */
async function createVersion(projectId: string, objectId: string, value: string): Promise<string> {
  const head = JSON.stringify({ project_id: projectId, object_id: objectId }).slice(0, -1)
  const response = await send(baseUrl, 'objects.create', new JsonText(`{"obj":${head},"val":${value}}}`))
  return ((await response.json()) as { digest: string }).digest
}

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
  /** Of the version that was changed. */
  version: string
  table: string
  /** Its value, as JSON. */
  value: string
  edits: Edits
  onSaved(digest: string): void
  onClose(): void
}

export function SaveVersion({ objectId, version, table, value, edits, onSaved, onClose }: SaveProps) {
  const { entity, project, projectId } = useProject()
  const client = useQueryClient()
  const { data: latest } = useLatest(projectId, objectId)
  const [isSure, setSure] = useState(false)
  const isBehind = latest !== undefined && latest.digest !== version
  const said = [
    [edits.added.length, 'added'],
    [[...edits.changed.keys()].filter((index) => !edits.removed.has(index)).length, 'changed'],
    [edits.removed.size, 'removed'],
  ] as const
  return (
    <FormDialog
      title="Save as version"
      act="Save"
      isReady={latest !== undefined && (!isBehind || isSure)}
      run={async () => {
        const digest = await updatedTable(projectId, table, edits)
        const next = withMember(value, 'rows', JSON.stringify(tableRef(projectId, digest)))
        const made = await createVersion(projectId, objectId, next)
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
        . The version that you have changed stays as it is.
      </p>
      {isBehind && (
        <>
          <p className="told-hint">
            <span>
              Meanwhile there is{' '}
              <Link
                to="/p/$entity/$project/datasets/$objectId/$version"
                params={{ entity, project, objectId, version: latest.digest }}
                search={{}}
                target="_blank"
              >
                version {latest.index}
              </Link>
              . What it changed is not in yours.
            </span>
          </p>
          <label className="field">
            <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> Save mine as the latest
          </label>
        </>
      )}
    </FormDialog>
  )
}
