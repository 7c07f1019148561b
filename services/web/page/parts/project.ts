// The project in the address.
import { useParams } from '@tanstack/react-router'

/** Only pages of a project may use it. */
export function useProject(): { entity: string; project: string; projectId: string } {
  const { entity = '', project = '' } = useParams({ strict: false }) as { entity?: string; project?: string }
  return { entity, project, projectId: `${entity}/${project}` }
}
