// Starts the page: the key leaves the address first, then taste, then the router.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import './app.css'
import './theme.css'
import './frame/frame.css'
import './parts/controls.css'
import './parts/rows.css'
import './parts/narrow-lines.css'
import './parts/dialogs.css'
import './projects/projects.css'
import './calls/calls.css'
import { queries } from './api/session.ts'
import { applyPreferences } from './preferences.ts'
import { readAhead } from './read-ahead.ts'
import { createPageRouter } from './router.tsx'
import { hideKey } from './sign-in/fragment.ts'

declare const require: (name: 'react-dom/client') => typeof import('react-dom/client')

/** Starts in separate tasks, after the one that reads the code: taps between them are seen. */
function start(): void {
  hideKey()
  applyPreferences()
  readAhead()
  setTimeout(show)
}

function show(): void {
  // It is in the same file, and run here.
  const { createRoot } = require('react-dom/client')
  const router = createPageRouter()
  const place = document.getElementById('page')
  if (place)
    createRoot(place).render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    )
}

setTimeout(start)
