// The page of an object, in a chunk of its own.
import { createLazyRoute } from '@tanstack/react-router'
import { ObjectVersion } from './object-version.tsx'

export const objectRoute = createLazyRoute('/signed-in/p/$entity/$project/objects/$objectId/$version')({
  component: ObjectVersion,
})
