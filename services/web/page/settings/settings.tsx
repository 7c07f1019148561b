// Settings: the sections that the reader's key opens, and the one that the address names.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { type Session, useSession } from '../api/session.ts'
import { Frame } from '../frame/frame.tsx'
import { Icon } from '../parts/icon.tsx'
import { intoView } from '../parts/into-view.ts'
import { groups, placeOf, type SectionId, sections } from '../parts/sections.ts'
import { System } from '../system/system.tsx'
import { AuditLog } from './audit.tsx'
import { Keys } from './keys.tsx'
import { ProjectLimits } from './limits.tsx'
import { Masking } from './masking.tsx'
import { Prices } from './prices.tsx'
import { ProjectProviders } from './providers.tsx'
import { Retention } from './retention.tsx'
import { Secrets } from './secrets.tsx'
import { Users } from './users.tsx'
import { You } from './you.tsx'
import './sections.css'
import './settings.css'

const pages: Record<SectionId, (props: { projectId: string }) => React.ReactNode> = {
  you: You,
  keys: Keys,
  users: Users,
  audit: AuditLog,
  system: System,
  limits: ProjectLimits,
  prices: Prices,
  retention: Retention,
  masking: Masking,
  providers: ProjectProviders,
  secrets: Secrets,
}

/** The project that the address names, whose settings show. */
function useChosen(): string {
  const { project } = useSearch({ strict: false }) as { project?: string }
  return project ?? ''
}

function Projects({ chosen }: { chosen: string }) {
  const navigate = useNavigate()
  const { section } = useParams({ strict: false }) as { section?: string }
  const { data } = useQuery({
    queryKey: ['projects', 'names'],
    queryFn: ({ signal }) => json('projects.query', { limit: 1_000 }, { signal }),
    staleTime: 60_000,
  })
  const names = [
    ...new Set([...(chosen === '' ? [] : [chosen]), ...(data?.projects ?? []).map((one) => one.project_id)]),
  ]
  return (
    <select
      aria-label="Project"
      value={chosen}
      onChange={({ target }) => {
        const search = { project: target.value }
        void navigate(
          section === undefined ? { to: '/system', search } : { to: '/settings/$section', params: { section }, search },
        )
      }}
    >
      {chosen === '' && <option value="">Choose a project</option>}
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

type SectionsProps = { chosen: string; shownId: string; session: Session | undefined }

function Sections({ chosen, shownId, session }: SectionsProps) {
  return (
    <nav className="sections" aria-label="Sections">
      {groups.map((group) => {
        const shown = sections.filter((one) => one.group === group && one.isFor(session))
        if (shown.length === 0) return null
        return (
          <div key={group}>
            <h2>{group}</h2>
            {group === 'Project' && <Projects chosen={chosen} />}
            {shown.map(({ id, label, icon }) => (
              <Link
                key={id}
                {...placeOf(id)}
                search={chosen === '' ? {} : { project: chosen }}
                activeOptions={{ includeSearch: false }}
                ref={id === shownId ? intoView : undefined}
              >
                <Icon name={icon} /> {label}
              </Link>
            ))}
          </div>
        )
      })}
    </nav>
  )
}

const ChooseProject = () => (
  <>
    <h1>Choose a project</h1>
    <p className="second">These settings belong to a project. Choose one above the sections.</p>
  </>
)

export function Settings() {
  // The page of the system has a path of its own.
  const { section = 'system' } = useParams({ strict: false }) as { section?: string }
  const chosen = useChosen()
  const { data: session } = useSession()
  const found = sections.find(({ id }) => id === section)
  const [entity, project] = chosen.split('/')
  const body = () => {
    if (session === undefined) return null
    if (found === undefined) return <h1>Page not found</h1>
    if (!found.isFor(session))
      return (
        <>
          <h1>{found.label}</h1>
          <p className="second">You need admin rights to change this.</p>
        </>
      )
    if (found.group === 'Project' && chosen === '') return <ChooseProject />
    const Page = pages[found.id]
    return <Page key={chosen} projectId={chosen} />
  }
  const title = found?.label ?? 'Settings'
  return (
    <Frame
      title={`${title} · Settings`}
      of={entity && project ? { entity, project } : undefined}
      crumbs={
        <>
          <Link to="/" search={{ all: '1' }}>
            Projects
          </Link>
          {entity && project && (
            <>
              <span className="sep">/</span>
              <Link to="/p/$entity/$project/calls" params={{ entity, project }} search={{}}>
                {chosen}
              </Link>
            </>
          )}
          <span className="sep">/</span>
          <span>Settings</span>
          <span className="sep">/</span>
          <span className="at">{title}</span>
        </>
      }
    >
      <div className="settings">
        <Sections chosen={chosen} shownId={section} session={session} />
        <div className="scroll">
          <div className="section">{body()}</div>
        </div>
      </div>
    </Frame>
  )
}
