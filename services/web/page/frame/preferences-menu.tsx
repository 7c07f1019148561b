// Menu of the preferences that this browser stores, and of sign-out.
import { useNavigate } from '@tanstack/react-router'
import { useSession } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { openKeySheet } from '../parts/page-dialogs.ts'
import { Seg } from '../parts/seg.tsx'
import { choices, localZone, type Preference, setPreference, usePreference } from '../preferences.ts'
import { signOut } from '../sign-in/sign-out.ts'

const labels: Record<Preference, string> = {
  theme: 'Theme',
  density: 'Rows',
  zone: 'Times',
  wrap: 'Long lines',
  markdown: 'Answers as Markdown',
  letterKeys: 'Single-letter keys',
  rail: 'Navigation in wide windows',
}

export function Choice({ name }: { name: Preference }) {
  const value = usePreference(name)
  // Two choices of one name could not be told apart.
  const zone = localZone()
  const local = zone === 'UTC' ? 'local (UTC)' : zone
  const shown = (one: string) => (one === 'local' ? local : one)
  return (
    <fieldset style={{ border: 0, margin: 0, padding: '2px 8px 8px' }}>
      <legend className="dim">{labels[name]}</legend>
      <Seg
        value={value}
        of={choices[name].map((one) => [one, shown(one)])}
        onValue={(one) => setPreference(name, one)}
      />
    </fieldset>
  )
}

export function PreferencesMenu() {
  const { data: session } = useSession()
  const navigate = useNavigate()
  const leave = async () => {
    await signOut()
    await navigate({ to: '/sign-in' })
  }
  return (
    <Menu
      label="Preferences"
      button={
        <>
          <Icon name="person" /> <span className="word">Preferences</span>
        </>
      }
    >
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
            <Icon name="help" /> Keyboard shortcuts
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
  )
}
