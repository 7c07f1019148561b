// Starts the page: the key leaves the address first, then taste, then the router.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import './app.css'
import './theme.css'
import { queries } from './api/session.ts'
import icon from './icon.svg'
import { applyPreferences } from './preferences.ts'
import { readAhead } from './read-ahead.ts'
import { createPageRouter } from './router.tsx'
import { hideKey } from './sign-in/fragment.ts'

/** It is within the page's code: no request of its own. */
function showIcon(): void {
  const link = document.createElement('link')
  link.rel = 'icon'
  link.href = icon
  document.head.append(link)
}

/** React's renderer is read meanwhile, in a task of its own: what is tapped between the two is seen. */
async function start(): Promise<void> {
  hideKey()
  applyPreferences()
  readAhead()
  showIcon()
  const { createRoot } = await import('react-dom/client')
  const place = document.getElementById('page')
  if (place)
    createRoot(place).render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <RouterProvider router={createPageRouter()} />
        </QueryClientProvider>
      </StrictMode>,
    )
}

// The code has been read by then: another task, for the same reason.
setTimeout(() => void start())
