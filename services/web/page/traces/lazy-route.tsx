// The pages of a trace and of a call, in a chunk of their own.
import { createLazyRoute } from '@tanstack/react-router'
import { CallLink } from './call-link.tsx'
import { Trace } from './trace.tsx'
import '../first-script.ts'

export const traceRoute = createLazyRoute('/signed-in/p/$entity/$project/traces/$traceId')({ component: Trace })
export const callRoute = createLazyRoute('/signed-in/p/$entity/$project/calls/$id')({ component: CallLink })
