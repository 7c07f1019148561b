// The dashboard, in a chunk of its own.
import { createLazyRoute } from '@tanstack/react-router'
import { Dashboard } from './dashboard.tsx'
import '../first-script.ts'

export const dashboardRoute = createLazyRoute('/signed-in/p/$entity/$project/dashboard')({ component: Dashboard })
