// A name in the address that no project has: projects that may be meant, and how one of this name begins.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { nearProjects } from '../engine/near-projects.ts'
import { Empty } from './empty.tsx'
import { useProject } from './project.ts'
import { T } from './text.tsx'

/** Projects that are looked through for a name. */
const maxProjects = 1_000

type Others = { names: string[]; areNear: boolean }

/**
 * Projects that may be meant where none has this name.
 * @returns null where there is such a project, or no other one; undefined until it is known
 */
export function useOtherProjects(projectId: string, isOn: boolean): Others | null | undefined {
  const { data: session } = useSession()
  // A project that somebody was given is one, also before its first call.
  const isGiven = Array.isArray(session?.grants) && session.grants.includes(projectId)
  const { data, error } = useQuery({
    queryKey: ['projects', 'other', projectId],
    async queryFn({ signal }): Promise<Others | null> {
      const [same, all] = await Promise.all([
        json('projects.query', { search: projectId, limit: maxProjects }, { signal }),
        json('projects.query', { limit: maxProjects }, { signal }),
      ])
      if (all.total === 0 || same.projects.some(({ project_id }) => project_id === projectId)) return null
      return nearProjects(
        projectId,
        all.projects.map(({ project_id }) => project_id),
      )
    },
    enabled: isOn && !isGiven,
    retry: false,
  })
  return error || isGiven ? null : data
}

/** That there is no such project, and links to those that may be meant. */
const OthersInstead = ({ projectId, names, areNear }: Others & { projectId: string }) => (
  <>
    <p className="second">
      There is no project <T text={projectId} max={200} />. {areNear ? 'Did you mean one of these?' : 'Your projects:'}
    </p>
    <nav className="acts" aria-label="Other projects">
      {names.map((name) => {
        const [entity = '', project = ''] = name.split('/')
        return (
          <Link key={name} className="line" to="/p/$entity/$project/calls" params={{ entity, project }} search={{}}>
            <T text={name} max={200} />
          </Link>
        )
      })}
      <Link className="line" to="/" search={{ all: '1' }}>
        All projects
      </Link>
    </nav>
  </>
)

export const NoSuchProject = (others: Others & { projectId: string }) => (
  <>
    <h1>No project of this name</h1>
    <OthersInstead {...others} />
    <p className="second">A project of this name is created when the first call is sent to it:</p>
  </>
)

/** A page of a project without anything to list: of a name that no project has, it says so. */
export function EmptyOfProject({ title, children }: Parameters<typeof Empty>[0]) {
  const { projectId } = useProject()
  const others = useOtherProjects(projectId, true)
  return (
    <Empty title={title}>
      {others && <OthersInstead projectId={projectId} {...others} />}
      {children}
    </Empty>
  )
}
