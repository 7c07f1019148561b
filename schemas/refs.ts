// Wire contract of reading refs.
import { z } from 'zod'

export const refsReadBatchRequest = z.object({ refs: z.array(z.string()) })

export const refsReadBatchResponse = z.object({ vals: z.array(z.unknown()) })
