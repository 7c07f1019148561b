// A page of a project below its crumbs.
import type { ReactNode } from 'react'
import { useProject } from '../parts/project.ts'
import { Frame, ProjectCrumbs } from './frame.tsx'

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
