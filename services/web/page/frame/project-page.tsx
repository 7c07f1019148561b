// A page of a project below its crumbs, and what every such page shows while it has nothing else to show.
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Frame, ProjectCrumbs } from './frame.tsx'

/** The project in the address: only pages of a project may use it. */
export function useProject(): { entity: string; project: string; projectId: string } {
  const { entity = '', project = '' } = useParams({ strict: false }) as { entity?: string; project?: string }
  return { entity, project, projectId: `${entity}/${project}` }
}

type ProjectPageProps = { title: string; crumbs?: ReactNode; acts?: ReactNode; children: ReactNode }

/** @param crumbs between the project and the title, each with a separator before it */
export function ProjectPage({ title, crumbs, acts, children }: ProjectPageProps) {
  const { entity, project, projectId } = useProject()
  return (
    <Frame
      title={`${title} of ${projectId}`}
      acts={acts}
      crumbs={
        <ProjectCrumbs entity={entity} project={project}>
          {crumbs}
          <span className="sep">/</span>
          <span className="at">{title}</span>
        </ProjectCrumbs>
      }
    >
      {children}
    </Frame>
  )
}

export const Loading = ({ what }: { what: string }) => (
  <div className="center">
    <span className="hidden" role="status">
      Loading {what}
    </span>
  </div>
)

/** A page without anything to list: what it is for, and what makes the first entry. */
export const Empty = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="scroll">
    <div className="page empty">
      <h1>{title}</h1>
      {children}
    </div>
  </div>
)
