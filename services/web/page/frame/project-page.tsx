// A page of a project below its crumbs.
import type { ReactNode } from 'react'
import { useProject } from '../parts/project.ts'
import { Frame, ProjectCrumbs } from './frame.tsx'

type ProjectPageProps = { title: string; crumb?: ReactNode; acts?: ReactNode; children: ReactNode }

/** @param crumb between the project and the title */
export function ProjectPage({ title, crumb, acts, children }: ProjectPageProps) {
  const { entity, project, projectId } = useProject()
  return (
    <Frame
      title={`${title} of ${projectId}`}
      acts={acts}
      crumbs={
        <ProjectCrumbs entity={entity} project={project}>
          {crumb && <span className="sep">/</span>}
          {crumb}
          <span className="sep">/</span>
          <span className="at">{title}</span>
        </ProjectCrumbs>
      }
    >
      {children}
    </Frame>
  )
}
