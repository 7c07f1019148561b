// Signing out, from the menu and from the settings.
import { json } from '../api/client.ts'
import { noteSignedIn, queries } from '../api/session.ts'
import { stopWorker } from '../worker/client.ts'

/** Nothing of what was read stays in the page. */
export async function signOut(): Promise<void> {
  noteSignedIn(false)
  await json('auth.logout', undefined).catch(() => undefined)
  stopWorker()
  queries.clear()
  sessionStorage.clear()
}
