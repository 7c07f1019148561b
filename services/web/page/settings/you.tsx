// The signed-in user, the end of the session, the end of all sessions; and preferences of this browser.
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { json, lines } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { moment } from '../engine/format.ts'
import { Choice } from '../frame/preferences-menu.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm, Fault, SectionHead } from '../parts/forms.tsx'
import { T } from '../parts/text.tsx'
import { choices, type Preference, useZone } from '../preferences.ts'
import { signOut } from '../sign-in/sign-out.ts'

export function You() {
  const { data: session } = useSession()
  const zone = useZone(undefined)
  const navigate = useNavigate()
  const [isEnding, setEnding] = useState(false)
  const { data: sessions, error } = useQuery({
    queryKey: ['settings', 'sessions'],
    queryFn: ({ signal }) => lines('me.sessions', undefined, { signal }),
  })
  const leave = useMutation({
    async mutationFn() {
      await signOut()
      await navigate({ to: '/sign-in' })
    },
  })
  const endAll = async () => {
    await json('me.sessions_end', undefined)
    await leave.mutateAsync()
  }
  if (session === undefined || session.user_id === null) return null
  const { grants } = session
  const [current] = sessions ?? []
  return (
    <>
      <SectionHead title="You">Your account, session and display preferences.</SectionHead>
      <dl className="set-facts">
        <div>
          <dt>User</dt>
          <dd>
            <T text={session.user_id} />
          </dd>
        </div>
        <div>
          <dt>Role</dt>
          <dd>{session.role ?? (grants === undefined ? 'owner (from the configuration)' : 'custom permissions')}</dd>
        </div>
        <div>
          <dt>Projects</dt>
          <dd>
            {grants === undefined || grants === '*' ? (
              'all projects'
            ) : (
              <span className="tags">
                {grants.map((scope) => (
                  <code key={scope} className="tag">
                    <T text={scope} />
                  </code>
                ))}
              </span>
            )}
          </dd>
        </div>
      </dl>
      <section className="part">
        <h2>Session</h2>
        <p className="second">
          {current
            ? `This session ends ${moment(current.expires_at, zone)} (${zone}), or when its key is revoked. `
            : 'You are not signed in through a browser session. '}
          Signing out everywhere ends all your sessions, in all browsers.
        </p>
        <Fault error={error ?? leave.error} />
        <div className="acts">
          <Button disabled={leave.isPending} onClick={() => leave.mutate()}>
            Sign out
          </Button>
          <button type="button" className="line danger" onClick={() => setEnding(true)}>
            Sign out everywhere…
          </button>
        </div>
      </section>
      <section className="part">
        <h2>Preferences of this browser</h2>
        <div className="choices">
          {(Object.keys(choices) as Preference[]).map((name) => (
            <Choice key={name} name={name} />
          ))}
        </div>
      </section>
      {isEnding && (
        <Confirm title="Sign out everywhere" act="Sign out everywhere" run={endAll} onClose={() => setEnding(false)}>
          All browsers where <strong>{session.user_id}</strong> is signed in must sign in again. Keys keep working.
        </Confirm>
      )}
    </>
  )
}
