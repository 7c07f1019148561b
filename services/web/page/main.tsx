// Starts the page: the key leaves the address first, then taste, then the router.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './app.css'
import './theme.css'
import { queries } from './api/session.ts'
import icon from './icon.svg'
import { applyPreferences } from './preferences.ts'
import { readAhead } from './read-ahead.ts'
import { router } from './router.tsx'
import { hideKey } from './sign-in/fragment.ts'

/** It is within the page's code: no request of its own. */
function showIcon(): void {
  const link = document.createElement('link')
  link.rel = 'icon'
  link.href = icon
  document.head.append(link)
}

hideKey()
applyPreferences()
readAhead()
showIcon()
const place = document.getElementById('page')
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
