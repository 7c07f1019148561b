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

declare const require: (name: 'react-dom/client') => typeof import('react-dom/client')

/** In a task of its own, after the one that reads the code: what is tapped between the two is seen. */
function start(): void {
  hideKey()
  applyPreferences()
  readAhead()
  showIcon()
  // It is in the same file, and run here.
  const { createRoot } = require('react-dom/client')
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

setTimeout(start)
