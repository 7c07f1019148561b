// Wire contract of routes that published clients know and this server answers with a reason.
import { z } from 'zod'
import { dict } from './coerce.ts'
import { list } from './collections.ts'

export const filesResolveUrlRequest = z.object({ project_id: z.string(), uris: list(z.string()) })
export const filesResolveUrlResponse = z.object({
  download_urls: z.array(z.string()),
  expires_at: z.string().nullable(),
})

export const linkToRegistryRequest = z.object({
  ref: z.string(),
  target: z.object({ portfolio_name: z.string(), entity_name: z.string(), project_name: z.string() }),
  aliases: list(z.string()).nullish(),
})
export const linkToRegistryResponse = z.object({ version_index: z.int().nullable() })

export const rescoreRequest = z.object({
  project_id: z.string(),
  source_evaluation_run_id: z.string(),
  scorer_refs: list(z.string()),
})
export const rescoreResponse = z.object({ call_id: z.string(), evaluation_run_id: z.string() })

export const callsScoreRequest = z.object({
  project_id: z.string(),
  call_ids: list(z.string()),
  scorer_refs: list(z.string()),
})
export const callsScoreResponse = z.object({})

export const evalResultsQueryRequest = z.object({
  evaluation_call_ids: list(z.string()).nullish(),
  evaluation_run_ids: list(z.string()).nullish(),
})
export const evalResultsQueryResponse = z.object({
  rows: z.array(dict()),
  total_rows: z.int(),
  summary: dict().nullable(),
  warnings: z.array(z.string()),
})
