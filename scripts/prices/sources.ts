// The published data that default prices are made of, fetched from the package registry: genai-prices and LiteLLM.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

type Package = { name: string; version: string; released: string }

/** Both are under the MIT licence. `released`: the day of the upload, after which no page was read for this version. */
export const packages = {
  genai: { name: 'genai-prices', version: '0.2.3', released: '2026-11-10' },
  litellm: { name: 'litellm', version: '1.109.1', released: '2026-11-12' },
} as const satisfies Record<string, Package>

export type Match =
  | { kind: 'ClauseEquals'; equals: string }
  | { kind: 'ClauseStartsWith'; starts_with: string }
  | { kind: 'ClauseEndsWith'; ends_with: string }
  | { kind: 'ClauseContains'; contains: string }
  | { kind: 'ClauseRegex'; regex: string }
  | { kind: 'ClauseOr'; or_: Match[] }
  | { kind: 'ClauseAnd'; and_: Match[] }

/** Dollars per million tokens; an object where the price depends on the length of the prompt. */
export type GenaiPrice = Record<string, number | { base: number } | string | undefined>

type Conditional = {
  prices: GenaiPrice
  constraint?: { kind: 'StartDateConstraint'; start_date: string } | { kind: 'TimeOfDateConstraint' }
}

export type GenaiModel = { id: string; match: Match; prices: GenaiPrice | Conditional[] }
type GenaiProvider = { id: string; pricing_urls?: string[]; models: GenaiModel[] }

/** Dollars per token. */
export type LitellmModel = {
  litellm_provider?: string
  mode?: string
  source?: string
  input_cost_per_token?: number
  output_cost_per_token?: number
  cache_read_input_token_cost?: number
  cache_creation_input_token_cost?: number
  cache_creation_input_token_cost_above_1hr?: number
  /** Prices by the length of the prompt, the shortest first. */
  tiered_pricing?: LitellmModel[]
  /** Prices of the larger part of a week; the others hold in the rest of it. */
  off_peak_pricing?: LitellmModel
}

export type Sources = { genai: GenaiProvider[]; litellm: Record<string, LitellmModel> }

const run = promisify(execFile)
const day = 86_400_000
const dayAfter = (date: string): string => new Date(Date.parse(date) + day).toISOString()

/** @throws Error when a version was not uploaded on the day that is named here */
export async function fetchSources(): Promise<Sources> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-prices-'))
  const python = join(dir, 'bin', 'python')
  const pip = (...args: string[]) => run(python, ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...args])
  const wanted = ({ name, version }: Package): string => `${name}==${version}`
  try {
    await run('python3', ['-m', 'venv', dir])
    // The first version that can be asked for what was there on a day.
    await pip('install', 'pip>=26')
    for (const one of Object.values(packages)) {
      const at = (date: string) => ['download', '--no-deps', '--dest', join(dir, 'day'), '--uploaded-prior-to', date]
      const isEarlier = await pip(...at(`${one.released}T00:00:00Z`), wanted(one)).then(
        () => true,
        () => false,
      )
      if (isEarlier) throw new Error(`${wanted(one)} was released before ${one.released}`)
      await pip(...at(dayAfter(one.released)), wanted(one))
    }
    await pip('install', wanted(packages.genai))
    await pip('install', '--no-deps', '--target', join(dir, 'litellm'), wanted(packages.litellm))
    const program = fileURLToPath(new URL('sources.py', import.meta.url))
    const { stdout } = await run(python, [program, join(dir, 'litellm')], { maxBuffer: 2 ** 26 })
    return JSON.parse(stdout) as Sources
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
