// Wire contract of the file routes.
import { z } from 'zod'

export const fileCreateResponse = z.object({ digest: z.string() })

export const fileContentRequest = z.object({ project_id: z.string(), digest: z.string() })
