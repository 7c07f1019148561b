// The frame of every page: the rail, and the bar with its breadcrumbs.
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { signOut, useHasEnded, useSession } from '../api/session.ts'
import icon from '../icon.svg'
import { useKeys } from '../keys.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { choices, localZone, type Preference, preference, setPreference, usePreference } from '../preferences.ts'
import { SignInAgain } from '../sign-in/sign-in.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { openKeySheet, openPalette } from './dialogs.tsx'
import { HealthSign } from './health.tsx'
import { PageLinks, usePageKeys } from './rail.tsx'

const labels: Record<Preference, string> = {
  theme: 'Theme',
  density: 'Rows',
  zone: 'Times',
  wrap: 'Long lines',
  markdown: 'Answers as Markdown',
  letterKeys: 'Single-letter keys',
}

export function Choice({ name }: { name: Preference }) {
  const value = usePreference(name)
  const shown = (one: string) => (one === 'local' ? localZone() : one)
  return (
    <fieldset style={{ border: 0, margin: 0, padding: '2px 8px 8px' }}>
      <legend className="dim">{labels[name]}</legend>
      <div className="seg">
        {choices[name].map((one) => (
          <button key={one} type="button" aria-pressed={one === value} onClick={() => setPreference(name, one)}>
            {shown(one)}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

const textOf = (node: ReactNode): string =>
  typeof node === 'string' ? node : Array.isArray(node) ? node.map(textOf).join('') : ''

/** Past the rail and the bars: to what the page lists, else to where it begins. */
const toContent = () =>
  (document.querySelector<HTMLElement>('.rows.main') ?? document.querySelector<HTMLElement>('.stage'))?.focus()

type FrameProps = {
  crumbs: ReactNode
  title: string
  acts?: ReactNode
  /** The project that is open, where the path does not say it. */
  of?: { entity: string; project: string } | undefined
  children: ReactNode
}

export function Frame({ crumbs, title, acts, of, children }: FrameProps) {
  const params = useParams({ strict: false }) as { entity?: string; project?: string }
  const { entity, project } = of ?? params
  const { data: session } = useSession()
  const navigate = useNavigate()
  const hasEnded = useHasEnded()
  const inSettings = useLocation({ select: ({ pathname }) => /^\/(?:settings\/|system$)/.test(pathname) })
  const here = entity !== undefined && project !== undefined ? { entity, project } : undefined
  useKeys({
    palette: () => openPalette(here),
    help: openKeySheet,
    wrap: () => setPreference('wrap', preference('wrap') === 'on' ? 'off' : 'on'),
    markdown: () => setPreference('markdown', preference('markdown') === 'on' ? 'off' : 'on'),
  })
  usePageKeys(here)
  useEffect(() => {
    document.title = `${title} · Callhouse`
  }, [title])
  const leave = async () => {
    await signOut()
    await navigate({ to: '/sign-in' })
  }
  return (
    <div className="frame">
      <button type="button" className="skip first" onClick={toContent}>
        Skip to content
      </button>
      <nav className="rail" aria-label="Pages">
        <Link to="/" className="home" aria-label="Projects" title="Projects" search={{ all: '1' }}>
          <img src={icon} alt="" />
        </Link>
        {here && <PageLinks {...here} />}
        <span className="space" />
        <Link
          to="/settings/$section"
          params={{ section: 'you' }}
          search={here ? { project: `${here.entity}/${here.project}` } : {}}
          activeOptions={{ includeSearch: false }}
          className={inSettings ? 'at' : ''}
          aria-label="Settings"
          title="Settings"
        >
          <Icon name="settings" />
        </Link>
        <Menu label="Preferences" button={<Icon name="person" />}>
          {(close) => (
            <>
              <h3>Preferences of this browser</h3>
              {(Object.keys(choices) as Preference[]).map((name) => (
                <Choice key={name} name={name} />
              ))}
              <hr />
              <button
                type="button"
                className="item"
                onClick={() => {
                  close()
                  openKeySheet()
                }}
              >
                <Icon name="help" /> Keys
              </button>
              <button type="button" className="item" onClick={() => void leave()}>
                <Icon name="leave" /> Sign out {session?.user_id && <span className="dim">{session.user_id}</span>}
              </button>
              {session && (
                <p className="dim" style={{ padding: '4px 8px' }}>
                  Callhouse {session.server.version}
                </p>
              )}
            </>
          )}
        </Menu>
        <button
          type="button"
          className="help"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={openKeySheet}
        >
          <Icon name="help" />
        </button>
      </nav>
      <header className="top">
        <div className="crumbs">{crumbs}</div>
        {acts}
        <HealthSign />
        <button type="button" className="line" title="Go to anything (Ctrl K)" onClick={() => openPalette(here)}>
          <Icon name="search" /> <span className="second">Go to</span> <kbd>Ctrl K</kbd>
        </button>
      </header>
      <main className="stage" tabIndex={-1} aria-label={textOf(title)}>
        <ConnectionBar />
        {children}
      </main>
      {hasEnded && <SignInAgain />}
    </div>
  )
}

/** `entity/project` as crumbs that lead to its calls. */
export function ProjectCrumbs({
  entity,
  project,
  children,
}: {
  entity: string
  project: string
  children?: ReactNode
}) {
  return (
    <>
      <Link to="/" search={{ all: '1' }}>
        Projects
      </Link>
      <span className="sep">/</span>
      <Link to="/p/$entity/$project/calls" params={{ entity, project }} search={{}}>
        {entity}/{project}
      </Link>
      {children}
    </>
  )
}
