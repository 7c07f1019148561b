// Wire contract of reading refs.
import { z } from 'zod'
import { list } from './collections.ts'

export const refsReadBatchRequest = z.object({ refs: list(z.string()) })

export const refsReadBatchResponse = z.object({ vals: z.array(z.unknown()) })
