// A page that could not be drawn: its code failed, or its file went when the server was upgraded.
import { CatchBoundary, type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiFault } from '../api/send.ts'
import { connection } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useConnection } from './connection-bar.tsx'
import { Frame } from './frame.tsx'

const storedAs = 'callhouse.loadedAgain'
const pauseMs = 60_000

/** The messages of Chromium, Firefox and Safari. */
const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script failed/i.test(error.message)

/** A newer page has other files: it is loaded once by itself. */
function mayLoadAgain(): boolean {
  const { href } = location
  try {
    const [before, at = '0'] = (sessionStorage.getItem(storedAs) ?? '').split(' ')
    if (before === href && Date.now() - Number(at) < pauseMs) return false
    sessionStorage.setItem(storedAs, `${href} ${Date.now()}`)
    return true
  } catch {
    // Storage that is closed: nothing would end the repetition.
    return false
  }
}

const missing = new Error('A file of this page could not be loaded. The server may have been upgraded.')
const away = new Error('This page could not be loaded. It opens automatically when the server is reachable again.')

export function Failed({ error }: ErrorComponentProps) {
  const isMissing = isMissingFile(error)
  const isUnreached = isMissing || (error instanceof ApiFault && error.values.status === 0)
  const { isAway } = useConnection()
  const { history } = useRouter()
  // Without a server the browser has no page to put in the place of this one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again when it is back
  useEffect(() => {
    if (isUnreached) void connection.look().then((isThere) => isThere && mayLoadAgain() && location.reload())
  }, [isUnreached, isAway])
  const body = (
    <>
      <h1 className="hidden">This page could not be shown</h1>
      <FaultBox error={isUnreached && isAway ? away : isMissing ? missing : error} onRetry={() => void reload()}>
        <Button onClick={() => history.back()}>Back</Button>
        <Link to="/" search={{ all: '1' }} className="line">
          All projects
        </Link>
      </FaultBox>
    </>
  )
  return (
    // The fault may be in the frame.
    <CatchBoundary getResetKey={() => ''} errorComponent={() => <main>{body}</main>}>
      <Frame title="Page not shown" crumbs={<span className="at">Page not shown</span>}>
        {body}
      </Frame>
    </CatchBoundary>
  )
}

async function reload(): Promise<void> {
  if (await connection.look()) location.reload()
}
