// The masking of all projects: made from their rules when one is first written to, and anew when rules change.
import { hkdfSync } from 'node:crypto'
import type { MaskedField } from '../../../schemas/mask-rules.ts'
import type { ContentStore, Extraction } from '../content-port.ts'
import { createMasker, type Masker, type ScopeRules } from './masker.ts'

/** Rules with how often they were changed, and what makes hashes of a project its own: without the salt nobody can tell them again. */
export type ScopeMask = ScopeRules & { version?: number; salt?: string | undefined }

/** The rules as they are known here; `version` grows with every change of them. */
export type MaskSource = { version(): number; scopes(): ReadonlyMap<string, ScopeMask> }

export type Maskings = {
  /** Undefined where nothing is masked: payloads stay the bytes that came. */
  of(projectId: string): Masker | undefined
}

/** `detector`: what found the values, or the rule that names their places. `isDry`: they were left as they are. */
export type MaskHits = { projectId: string; rule: string; detector: string; hits: number; isDry: boolean }

export type MaskingEvents = {
  onHits?(hits: MaskHits): void
  onFailure?(projectId: string, error: unknown): void
}

/** Counts what the rules of a dry run would hit, and leaves it to the others. */
const withDryRun = (masker: Masker, dry: Masker): Masker => ({
  ...masker,
  cost: masker.cost + dry.cost,
  json(...of) {
    dry.json(...of)
    return masker.json(...of)
  },
  text(...of) {
    dry.text(...of)
    return masker.text(...of)
  },
  anchors: (...of) => masker.anchors(...of) | dry.anchors(...of),
})

const maxKnown = 10_000

/** Scopes of a project, the widest first. */
export const scopesOf = (projectId: string): string[] => ['*', projectId.slice(0, projectId.indexOf('/')), projectId]

/**
 * Version of the rules in the rows that they masked: it grows with every change of one of its scopes; 0 = none masks
 * anything.
 */
export const maskVersion = (scopes: readonly ScopeMask[], floor: readonly string[]): number =>
  floor.length === 0 && scopes.every(({ rules }) => rules.mode !== 'on')
    ? 0
    : scopes.reduce((sum, { version = 1 }) => sum + version, Math.min(floor.length, 1))

/**
 * @param floor sets that no scope can switch off
 * @param masterKey of which the secrets of hashes are made; asked for when a rule needs one
 */
export function createMaskings(
  source: MaskSource,
  {
    floor = [],
    masterKey,
    onHits,
    onFailure,
  }: MaskingEvents & { floor?: readonly string[]; masterKey?(): Buffer | undefined } = {},
): Maskings {
  let known = new Map<string, Masker | null>()
  let knownVersion = -1

  function secretOf(projectId: string, scopes: readonly ScopeMask[]): Buffer | undefined {
    const salt = scopes.findLast((scope) => scope.salt !== undefined)?.salt
    const master = salt === undefined ? undefined : masterKey?.()
    if (salt === undefined || master === undefined) return undefined
    return Buffer.from(hkdfSync('sha256', master, Buffer.from(salt, 'base64'), `mask/${projectId}`, 32))
  }

  function maskerOf(
    projectId: string,
    scopes: readonly ScopeMask[],
    { secret, version }: { secret: Buffer | undefined; version: number },
  ): Masker {
    const [on = [], dry = []] = ['on', 'dry_run'].map((mode) => scopes.filter(({ rules }) => rules.mode === mode))
    const optionsOf = (isDry: boolean) => ({
      secret,
      ...(onHits && {
        onHits: (rule: string, hits: number, detector: string) => onHits({ projectId, rule, detector, hits, isDry }),
      }),
    })
    const masker = createMasker(on, {
      ...optionsOf(false),
      floor,
      version,
      ...(onFailure && { onFailure: (error: unknown) => onFailure(projectId, error) }),
    })
    return dry.length === 0 ? masker : withDryRun(masker, createMasker(dry, optionsOf(true)))
  }

  function make(projectId: string): Masker | null {
    const all = scopesOf(projectId).flatMap((scope) => source.scopes().get(scope) ?? [])
    const scopes = all.filter(({ rules }) => rules.mode !== 'off')
    if (floor.length === 0 && scopes.length === 0) return null
    const of = { secret: secretOf(projectId, all), version: maskVersion(all, floor) }
    const ofObjects = scopes.filter(({ rules }) => rules.objects)
    const masker = maskerOf(projectId, scopes, of)
    return ofObjects.length === 0 ? masker : { ...masker, objects: maskerOf(projectId, ofObjects, of) }
  }

  return {
    of(projectId) {
      if (floor.length === 0 && source.scopes().size === 0) return undefined
      const version = source.version()
      if (version !== knownVersion || known.size >= maxKnown) {
        known = new Map()
        knownVersion = version
      }
      let masker = known.get(projectId)
      if (masker === undefined) {
        masker = make(projectId)
        known.set(projectId, masker)
      }
      return masker ?? undefined
    },
  }
}

/** The same for one request, in which each project is looked up once. */
export function maskingsOfRequest(maskings: Maskings): Maskings {
  let lastProject: string | undefined
  let last: Masker | undefined
  const known = new Map<string, Masker | undefined>()
  return {
    of(projectId) {
      if (projectId === lastProject) return last
      if (!known.has(projectId)) known.set(projectId, maskings.of(projectId))
      lastProject = projectId
      last = known.get(projectId)
      return last
    },
  }
}

/** Nothing is masked. */
export const noMaskings: Maskings = { of: () => undefined }

const dropped = '[dropped]'

/** Extraction of long texts from the payloads of a project: content itself is masked, or dropped where rules say so. */
export function maskedExtraction(
  masker: Masker | undefined,
  extraction: Extraction,
  content: ContentStore,
): Extraction {
  if (masker === undefined) return extraction
  if (masker.dropsContent) {
    // Tells what would be stored, and never stores it.
    const asked = content.begin()
    return {
      extract: (...text) => (asked.extract(...text) === null ? null : dropped),
      append: async () => [],
    }
  }
  return extraction
}

/** Most bytes of a body that the event loop masks by itself, with detectors alone. */
const hereBytes = 256 * 1024

/** Whether masking a body of this size takes longer than one request may hold up the others. */
export const takesLong = (masker: Masker | undefined, bodyBytes: number): boolean =>
  masker !== undefined && bodyBytes * masker.cost > hereBytes

/** Takes long texts out as `extract` does, masked: where rules go by names, which a text alone does not have, none. */
export function maskedTexts(
  masker: Masker | undefined,
  extract: (text: string) => string | null,
): (text: string) => string | null {
  if (masker === undefined) return extract
  return (text) => (masker.hasPlaces && !masker.dropsContent ? null : extract(masker.text('inputs', text).text))
}

/** A value with some of its texts masked, each as the member of a field. */
export function maskedTextsOf<Name extends string, Value extends { [name in Name]?: string | undefined }>(
  masker: Masker | undefined,
  field: MaskedField,
  value: Value,
  names: readonly Name[],
): Value {
  if (masker === undefined) return value
  const kept = { ...value }
  for (const name of names) {
    const text: string | undefined = value[name]
    if (text !== undefined) kept[name] = masker.text(field, text, name).text as Value[Name]
  }
  return kept
}
