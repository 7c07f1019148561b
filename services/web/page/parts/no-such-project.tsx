// A name in the address that no project has: projects that may be meant, and how one of this name begins.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { isGivenByName, type OtherProjects, otherProjects } from '../engine/near-projects.ts'
import { Empty } from './empty.tsx'
import { useProject } from './project.ts'
import { T } from './text.tsx'

/** Projects that are looked through for a name. */
const maxProjects = 1_000

/**
 * Projects that may be meant where none has this name.
 * @returns null where there is such a project, or no other one; undefined until it is known
 */
export function useOtherProjects(projectId: string, isOn: boolean): OtherProjects | null | undefined {
  const { data: session } = useSession()
  const isGiven = isGivenByName(projectId, session?.grants)
  const { data, error } = useQuery({
    queryKey: ['projects', 'other', projectId],
    async queryFn({ signal }) {
      const named = async (more: { search?: string }) => {
        const { projects } = await json('projects.query', { ...more, limit: maxProjects }, { signal })
        return projects.map(({ project_id }) => project_id)
      }
      const [same, all] = await Promise.all([named({ search: projectId }), named({})])
      return otherProjects(projectId, same, all)
    },
    enabled: isOn && !isGiven,
    retry: false,
  })
  return error || isGiven ? null : data
}

/** That there is no such project, and links to those that may be meant. */
const OthersInstead = ({ projectId, names, areNear }: OtherProjects & { projectId: string }) => (
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

export const NoSuchProject = (others: OtherProjects & { projectId: string }) => (
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
