// Pages that are not needed for a list of calls, in one chunk: of several, what they share with the entry becomes a chunk
// that the entry waits for.
import { createLazyRoute } from '@tanstack/react-router'
import { ObjectVersion } from './objects/object-version.tsx'
import { CallLink } from './traces/call-link.tsx'
import { Trace } from './traces/trace.tsx'

export const traceRoute = createLazyRoute('/signed-in/p/$entity/$project/traces/$traceId')({ component: Trace })
export const callRoute = createLazyRoute('/signed-in/p/$entity/$project/calls/$id')({ component: CallLink })
export const objectRoute = createLazyRoute('/signed-in/p/$entity/$project/objects/$objectId/$version')({
  component: ObjectVersion,
})
