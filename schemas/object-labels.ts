// Wire contract of tags and aliases of objects.
import { z } from 'zod'
import { list } from './collections.ts'

const labels = list(z.string())

export const tagsRequest = z.object({ project_id: z.string(), tags: labels })

export const aliasesSetRequest = z.object({
  project_id: z.string(),
  /** A digest, `latest`, `v<number>` or another alias. */
  digest: z.string(),
  aliases: labels,
})

export const aliasesRemoveRequest = z.object({ project_id: z.string(), aliases: labels })

export const labelsChanged = z.object({})

export const tagsResponse = z.object({ tags: labels })

export const aliasesResponse = z.object({ aliases: labels })
