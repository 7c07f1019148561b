// A version of a dataset: its rows, and the changes that make the next one.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { plainText } from '../engine/json-texts.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import { SaveVersion } from './save-version.tsx'
import { rowIn, tableOf } from './search.ts'
import { TableGrid } from './table-grid.tsx'
import { useEdits } from './use-edits.ts'
import { useRowCount } from './use-table.ts'

const route = '/signed-in/p/$entity/$project/datasets/$objectId/$version'

type Version = { digest: string; index: number; isLatest: boolean; value: string; table: string | undefined }

const useDataset = (projectId: string, objectId: string, version: string) =>
  useQuery({
    queryKey: ['object.value', projectId, objectId, version],
    async queryFn({ signal }): Promise<Version> {
      const { head, value, members } = await ask('objectTexts', [baseUrl, projectId, objectId, version], { signal })
      const rows = members.find(([name]) => name === 'rows')?.[1]
      return {
        digest: String(head.digest),
        index: Number(head.version_index),
        isLatest: head.is_latest === 1,
        value,
        table: rows === undefined ? undefined : tableOf(projectId, plainText(rows)),
      }
    },
    staleTime: 60_000,
  })

export function Dataset() {
  const { entity, project, projectId } = useProject()
  const { objectId, version } = useParams({ from: route })
  const search = useSearch({ from: route })
  const { data, error, refetch } = useDataset(projectId, objectId, version)
  const counted = useRowCount(projectId, data?.table ?? '')
  const shown = () => {
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="the dataset" />
    if (data.table === undefined)
      return (
        <div className="center">
          <h2>This version has no table</h2>
        </div>
      )
    if (counted.error) return <FaultBox error={counted.error} onRetry={() => void counted.refetch()} />
    if (counted.data === undefined) return <Loading what="the rows" />
    return <Rows objectId={objectId} stored={counted.data} table={data.table} version={data} />
  }
  return (
    <ProjectPage
      title={objectId}
      crumb={
        <Link to="/p/$entity/$project/objects" params={{ entity, project }} search={search.tz ? { tz: search.tz } : {}}>
          Objects
        </Link>
      }
      acts={
        data && (
          <>
            <span className="second">
              v{data.index}
              {data.isLatest && ', the latest'}
            </span>
            <Link
              className="line"
              to="/p/$entity/$project/objects/$objectId/$version"
              params={{ entity, project, objectId, version: data.digest }}
              search={search.tz ? { tz: search.tz } : {}}
            >
              View object
            </Link>
          </>
        )
      }
    >
      <h1 className="hidden">
        Dataset <T text={objectId} />
      </h1>
      {shown()}
    </ProjectPage>
  )
}

/** Versions whose rows are looked for among the inputs of calls. */
const maxVersions = 20

/** A row that stays the same from version to version is named by each of them. */
function useRowRefs(projectId: string, objectId: string, digest: string): (row: string) => string[] {
  const { data } = useQuery({
    queryKey: ['object.digests', projectId, objectId],
    async queryFn({ signal }) {
      const body = {
        project_id: projectId,
        filter: { object_ids: [objectId], is_op: false },
        sort_by: [{ field: 'created_at', direction: 'desc' as const }],
        limit: maxVersions,
        metadata_only: true,
      }
      return (await json('objects.query', body, { signal })).objs.map((one) => one.digest)
    },
    staleTime: 60_000,
  })
  const versions = data && [...new Set([digest, ...data])]
  return (row) => (versions ?? []).map((one) => `weave:///${projectId}/object/${objectId}:${one}/attr/rows/id/${row}`)
}

type RowsProps = { objectId: string; table: string; stored: number; version: Version }

function Rows({ objectId, table, stored, version }: RowsProps) {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const { data: session } = useSession()
  const edits = useEdits(projectId, objectId, version.digest, stored)
  const [isSaving, setSaving] = useState(false)
  const go = (row: number | undefined, at: string, replace: boolean) =>
    void navigate({
      to: '/p/$entity/$project/datasets/$objectId/$version',
      params: { entity, project, objectId, version: at },
      search: { ...search, row: row === undefined ? undefined : String(row + 1) },
      replace,
    })
  const refsOf = useRowRefs(projectId, objectId, version.digest)
  const whyNot = mayWrite(session) ? undefined : noWrite
  return (
    <>
      <TableGrid
        key={table}
        projectId={projectId}
        digest={table}
        stored={stored}
        name={`${objectId}-v${version.index}`}
        row={rowIn(search.row)}
        onRow={(row) => go(row, version.digest, search.row !== undefined && row !== undefined)}
        refsOf={refsOf}
        editing={{ ...edits, whyNot, save: () => setSaving(true) }}
      />
      {isSaving && (
        <SaveVersion
          objectId={objectId}
          table={table}
          stored={stored}
          version={version.digest}
          value={version.value}
          edits={edits.edits}
          onSaved={(digest) => {
            edits.forget()
            go(undefined, digest, false)
          }}
          onClose={() => setSaving(false)}
        />
      )}
    </>
  )
}
