// A page that could not be drawn: its code failed, or its file went when the server was upgraded.
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { baseUrl } from '../api/client.ts'
import { FaultBox } from '../parts/fault.tsx'

const storedAs = 'callhouse.loadedAgain'
const pauseMs = 60_000

/** As Chromium, Firefox and Safari put it. */
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

const missing = new Error('A file of this page did not come. The server may have been upgraded.')

export function Failed({ error }: ErrorComponentProps) {
  const isMissing = isMissingFile(error)
  useEffect(() => {
    if (isMissing && mayLoadAgain()) location.reload()
  }, [isMissing])
  return (
    <main>
      <h1 className="hidden">This page could not be shown</h1>
      <FaultBox error={isMissing ? missing : error} onRetry={() => location.reload()}>
        <a href={baseUrl}>All projects</a>
      </FaultBox>
    </main>
  )
}
