// A table by its digest, as it is referred to: to be read, not changed.
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { ProjectPage } from '../frame/project-page.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { rowIn } from './search.ts'
import { TableGrid } from './table-grid.tsx'
import { useRowCount } from './use-table.ts'

const route = '/signed-in/p/$entity/$project/tables/$digest'

export function Table() {
  const { entity, project, projectId } = useProject()
  const { digest } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const { data: count, error, refetch } = useRowCount(projectId, digest)
  return (
    <ProjectPage title="Table">
      <h1 className="hidden">Table of {projectId}</h1>
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
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
