// Wire contract of the file routes.
import { z } from 'zod'

export const fileCreateResponse = z.object({ digest: z.string() })

export const fileContentRequest = z.object({ project_id: z.string(), digest: z.string() })

export const filesStatsRequest = z.object({ project_id: z.string() })

export const filesStatsResponse = z.object({ total_size_bytes: z.int() })
