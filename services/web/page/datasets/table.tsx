// A table by its digest, as it is referred to: to be read, not changed.
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { rowIn } from './search.ts'
import { TableGrid } from './table-grid.tsx'
import { useTable } from './use-table.ts'

const route = '/signed-in/p/$entity/$project/tables/$digest'
const none = { from: 0, to: 0 }

export function Table() {
  const { entity, project, projectId } = useProject()
  const { digest } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const { count, error, refetch } = useTable(projectId, digest, none)
  return (
    <ProjectPage title="Table">
      <h1 className="hidden">Table of {projectId}</h1>
      {error ? (
        <FaultBox error={error} onRetry={refetch} />
      ) : count === undefined ? (
        <Loading what="the table" />
      ) : (
        <TableGrid
          projectId={projectId}
          digest={digest}
          stored={count}
          name={`table-${digest.slice(0, 12)}`}
          row={rowIn(search.row)}
          onRow={(row) =>
            void navigate({
              to: '/p/$entity/$project/tables/$digest',
              params: { entity, project, digest },
              search: { ...search, row: row === undefined ? undefined : String(row + 1) },
              replace: search.row !== undefined && row !== undefined,
            })
          }
        />
      )}
    </ProjectPage>
  )
}
