// The frame of every page: the rail or drawer, and the bar with its breadcrumbs.
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useHasEnded } from '../api/session.ts'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { openKeySheet, openPalette } from '../parts/page-dialogs.ts'
import { preference, setPreference } from '../preferences.ts'
import { SignInAgain } from '../sign-in/sign-in.tsx'
import { useIsWindow } from '../window-width.ts'
import { ConnectionBar } from './connection-bar.tsx'
import { HealthSign } from './health.tsx'
import { Drawer, Rail } from './navigation.tsx'
import { usePageKeys } from './rail.tsx'

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
  const hasEnded = useHasEnded()
  const isNarrow = useIsWindow('narrow')
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
  return (
    <div className="frame">
      <button type="button" className="skip first" onClick={toContent}>
        Skip to content
      </button>
      {!isNarrow && <Rail here={here} />}
      <header className="top">
        {isNarrow && <Drawer here={here} />}
        <div className="crumbs">{crumbs}</div>
        {acts}
        <HealthSign />
        <Button title="Go to anything (Ctrl K)" onClick={() => openPalette(here)}>
          <Icon name="search" /> <span className="second">Go to</span> <kbd>Ctrl K</kbd>
        </Button>
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
