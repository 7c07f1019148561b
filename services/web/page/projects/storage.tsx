// Storage of a project, read on demand: the server adds it up for this.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { bytes } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'

export function Storage({ projectId }: { projectId: string }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['project storage', projectId],
    queryFn: ({ signal }) => json('projects.stats', { project_id: projectId }, { signal }),
    enabled: false,
  })
  const parts = data && {
    calls: data.trace_storage_size_bytes,
    objects: data.objects_storage_size_bytes,
    tables: data.tables_storage_size_bytes,
    files: data.files_storage_size_bytes,
  }
  const texts = Object.entries(parts ?? {})
    .filter(([, size]) => size > 0)
    .map(([what, size]) => `${what} ${bytes(size)}`)
  return (
    <div className="storage">
      <Button aria-label={`Storage of ${projectId}`} aria-busy={isFetching} onClick={() => void refetch()}>
        Storage
      </Button>
      <span role="status" className="dim">
        {error ? 'not available now' : data && (texts.join(', ') || 'nothing')}
      </span>
    </div>
  )
}
