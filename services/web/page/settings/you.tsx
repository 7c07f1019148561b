// The signed-in user, the end of the session, the end of all sessions; and preferences of this browser.
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { json, lines } from '../api/client.ts'
import { signOut, useSession } from '../api/session.ts'
import { moment } from '../engine/format.ts'
import { Choice } from '../frame/frame.tsx'
import { T } from '../parts/text.tsx'
import { choices, type Preference, useZone } from '../preferences.ts'
import { Confirm, Fault, SectionHead } from './parts.tsx'

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
      <SectionHead title="You">Who is signed in here, and what this browser remembers.</SectionHead>
      <dl className="set-facts">
        <div>
          <dt>User</dt>
          <dd>
            <T text={session.user_id} />
          </dd>
        </div>
        <div>
          <dt>Role</dt>
          <dd>{session.role ?? (grants === undefined ? 'owner, by the configuration' : 'some actions')}</dd>
        </div>
        <div>
          <dt>Opens</dt>
          <dd>
            {grants === undefined || grants === '*' ? (
              'every project'
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
            : 'Sessions are kept by browsers alone. '}
          Signing out everywhere ends all of yours, in this browser and in every other one.
        </p>
        <Fault error={error ?? leave.error} />
        <div className="acts">
          <button type="button" className="line" disabled={leave.isPending} onClick={() => leave.mutate()}>
            Sign out
          </button>
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
          Every browser in which <strong>{session.user_id}</strong> is signed in asks for a key again. Keys go on to
          count.
        </Confirm>
      )}
    </>
  )
}
