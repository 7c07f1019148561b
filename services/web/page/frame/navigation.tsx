// Navigation between pages: a rail, with words where there is room, and a drawer behind a button in narrow windows.
import { Link, useLocation } from '@tanstack/react-router'
import { type MouseEvent, useState } from 'react'
import icon from '../icon.svg'
import { IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { openKeySheet } from '../parts/page-dialogs.ts'
import { setPreference, usePreference } from '../preferences.ts'
import { useIsWindow } from '../window-width.ts'
import { PreferencesMenu } from './preferences-menu.tsx'
import { PageLinks, type ProjectHere } from './rail.tsx'

type Here = { here: ProjectHere | undefined }

/** All links, each with its word: the style sheet hides words where only icons have room. */
function Ways({ here }: Here) {
  const inSettings = useLocation({ select: ({ pathname }) => /^\/(?:settings\/|system$)/.test(pathname) })
  return (
    <>
      <Link to="/" className="home" title="Projects" search={{ all: '1' }}>
        <img src={icon} alt="" /> <span className="word">Projects</span>
      </Link>
      {here && <PageLinks {...here} />}
      <span className="space" />
      <Link
        to="/settings/$section"
        params={{ section: 'you' }}
        search={here ? { project: `${here.entity}/${here.project}` } : {}}
        activeOptions={{ includeSearch: false }}
        className={inSettings ? 'at' : ''}
        title="Settings"
      >
        <Icon name="settings" /> <span className="word">Settings</span>
      </Link>
      <PreferencesMenu />
      <button type="button" title="Keyboard shortcuts (?)" onClick={openKeySheet}>
        <Icon name="help" /> <span className="word">Keyboard shortcuts</span>
      </button>
    </>
  )
}

export function Rail({ here }: Here) {
  const isWide = useIsWindow('wide')
  const hasWords = usePreference('rail') === 'words'
  return (
    <nav className={`rail${isWide && hasWords ? ' with-words' : ''}`} aria-label="Pages">
      <Ways here={here} />
      {isWide && (
        <button
          type="button"
          title={hasWords ? 'Show icons only' : 'Show icons and words'}
          onClick={() => setPreference('rail', hasWords ? 'icons' : 'words')}
        >
          <Icon name={hasWords ? 'left' : 'right'} /> <span className="word">{hasWords ? 'Collapse' : 'Expand'}</span>
        </button>
      )}
    </nav>
  )
}

/** The button of the drawer, and the drawer while it is open. */
export function Drawer({ here }: Here) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <IconButton
        icon="menu"
        label="Pages"
        title="Pages"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Dialog title="Pages" className="drawer" onClose={close} closesOutside>
          <nav
            className="rail with-words"
            aria-label="Pages"
            onClick={({ target }: MouseEvent) => (target as HTMLElement).closest('a') && close()}
          >
            <Ways here={here} />
          </nav>
        </Dialog>
      )}
    </>
  )
}
