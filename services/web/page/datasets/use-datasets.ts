// Names of the datasets of a project, the latest first.
import { json } from '../api/client.ts'
import { useList } from '../parts/use-list.ts'

const maxDatasets = 1_000

export const useDatasets = (project_id: string) =>
  useList<string>({
    key: ['objects.datasets', project_id],
    async read({ signal }) {
      const filter = { base_object_classes: ['Dataset'], latest_only: true, is_op: false }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const asked = { project_id, filter, sort_by, limit: maxDatasets, metadata_only: true }
      return (await json('objects.query', asked, { signal })).objs.map(({ object_id }) => object_id)
    },
  })
