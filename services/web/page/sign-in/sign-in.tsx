// Signing in: a key is pasted once, or comes in the fragment of the link that the first start prints.
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { ApiFault } from '../api/send.ts'
import { queries, signIn } from '../api/session.ts'
import icon from '../icon.svg'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { closeDialogs } from '../parts/page-dialogs.ts'
import { hideKey, takeKey } from './fragment.ts'

const told = (error: unknown): string => {
  if (!(error instanceof ApiFault)) return 'Sign-in failed'
  const { status, reason, retryAfterS } = error.values
  return status === 429 ? `${reason}; try again in ${retryAfterS} s` : reason
}

type KeyFormProps = { onDone(): void; start?: string; next?: string }

function KeyForm({ onDone, start, next = '/' }: KeyFormProps) {
  const id = useId()
  const [key, setKey] = useState(start ?? '')
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const send = async (text: string) => {
    setBusy(true)
    setFault('')
    try {
      await signIn(text)
      setKey('')
      onDone()
    } catch (error) {
      setFault(told(error))
    } finally {
      setBusy(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with what the link brought
  useEffect(() => {
    if (start) void send(start)
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key.trim() === '') setFault('Paste an API key')
    else void send(key.trim())
  }
  return (
    <form onSubmit={submit}>
      <div className="brand">
        <img src={icon} alt="" />
        <div>
          <h1>Callhouse</h1>
          <p className="second">Traces of AI programs</p>
        </div>
      </div>
      <label htmlFor={id}>
        API key
        <Input
          id={id}
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          autoFocus
          value={key}
          aria-invalid={fault !== ''}
          aria-describedby={`${id}-told`}
          onText={setKey}
        />
      </label>
      <div id={`${id}-told`} role="alert" className="alert" hidden={fault === ''}>
        <Icon name="error" />
        <span>{fault}</span>
      </div>
      <button type="submit" className="first" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
      <Provider next={next} />
      <p className="second">
        The first key is printed when the server starts. To create another, run{' '}
        <code>npx callhouse keys create &lt;user&gt;</code>.
      </p>
    </form>
  )
}

const isPagePath = (path: string | undefined): path is string =>
  path !== undefined && /^\/(?:p\/|settings\/|system$|$)/.test(path) && !/^\/\/|[\\\n\r\t]/.test(path)

/** The way to whoever signs people in beside keys, where the server has one. */
function Provider({ next }: { next: string }) {
  const { data } = useQuery({
    queryKey: ['session', 'providers'],
    queryFn: ({ signal }) => json('auth.providers', undefined, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    meta: { isAside: true },
  })
  return data?.providers.map(({ name }) => (
    <a key={name} className="provider" href={`${baseUrl}auth/login?${new URLSearchParams({ return_to: next })}`}>
      <Icon name="person" /> Sign in with <strong>{name}</strong>
    </a>
  ))
}

export function SignIn() {
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }
  const [start, setStart] = useState(takeKey)
  // One that was opened before it was known who is signed in.
  useEffect(closeDialogs, [])
  // A link that is opened while this page is in the tab changes the fragment only.
  useEffect(() => {
    const take = () => {
      hideKey()
      setStart((before) => takeKey() ?? before)
    }
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  const done = () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    void navigate({ href: isPagePath(next) ? next : '/', replace: true })
  }
  return (
    <main className="sign-in">
      <KeyForm key={start} onDone={done} next={isPagePath(next) ? next : '/'} {...(start && { start })} />
    </main>
  )
}

/** Over the page, when the session ended while it was open: what was typed stays. */
export function SignInAgain() {
  const here = useLocation({ select: ({ href }) => href })
  return (
    <Dialog title="You were signed out" onClose={() => location.reload()}>
      <div className="sign-in">
        <KeyForm onDone={() => undefined} next={isPagePath(here) ? here : '/'} />
      </div>
    </Dialog>
  )
}
