// Masks the texts of one project by its rules, before anything of them is stored.
import { createHmac } from 'node:crypto'
import type { MaskedField } from '../../../schemas/mask-rules.ts'
import { allAnchors, anchors, anchorsIn, keyEndingsOf } from './anchors.ts'
import { allowedBy, compiledSet, compileRule, type Rule, type ScopeRules, setsOf } from './compiled-rules.ts'
import { type DetectorName, detectorKeys } from './detectors.ts'
import { labelledName, maskJson } from './mask-json.ts'
import { lookAt, type MaskerRules, type ValueLook } from './value-look.ts'

export type { ScopeRules }

type Masked = {
  text: string
  /** A value was masked for its path, which other copies of it do not have. */
  isByPath: boolean
}

export type Masker = {
  /** Number of changes of the rules that reach the project: rows carry it; 0 = none masks anything. */
  version: number
  /** Values that were masked since the masker was made: what a call adds to them is its own. */
  hits(): number
  /** Extracted content is not stored, files are refused. */
  dropsContent: boolean
  /** The masker of objects and rows of tables; absent where rules leave them alone. */
  objects?: Masker
  /** About how long a byte takes, against one that only detectors look at. */
  cost: number
  /** Some rule goes by names or paths, which a text alone does not tell. */
  hasPlaces: boolean
  /**
   * @param json text that JSON.parse accepts; the same text comes back where nothing is masked
   * @param present what `anchors` tells of it: what is not there is not looked for
   */
  json(field: MaskedField, json: string, present?: number): Masked
  /** @param name of the member that holds it, by which some rules go */
  text(field: MaskedField, text: string, name?: string): Masked
  /** Bits of what stands in a payload in UTF-8 bytes that rules may find something at; 0 = it holds nothing to mask, as most. */
  anchors(bytes: Uint8Array, start: number, end: number): number
}

/** The literal part of a pattern: rules without an anchor are always looked for. */
const literalBit = allAnchors + 1

const dropped = '[dropped]'
const failed = '[masking failed]'
/** Objects stay objects: SDKs read nothing else there. */
const failedObject = JSON.stringify({ masking: failed })
const maxHashed = 10_000
const maxClean = 100

/** Names equal texts by equal digests, which the secret alone can tell. */
function hashWith(secret: Buffer | undefined): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    // Rules that hash are refused where no secret can be had.
    if (secret === undefined) throw new Error('no secret for hashes')
    const seen = known.get(text)
    if (seen !== undefined) return seen
    const digest = createHmac('sha256', secret).update(text).digest('hex').slice(0, 16)
    if (known.size >= maxHashed) known.clear()
    if (text.length <= 1024) known.set(text, digest)
    return digest
  }
}

/** The normal form of a text: two spellings of the same value have one hash. */
const normalForm = (kind: string, text: string): string =>
  kind === 'email'
    ? text.toLowerCase()
    : ['card', 'phone', 'iban', 'us_ssn'].includes(kind)
      ? text.replace(/[ ().-]/g, '')
      : text

type MaskerOptions = {
  floor?: readonly string[]
  secret?: Buffer | undefined
  version?: number
  onHits?(rule: string, hits: number, detector: string): void
  onFailure?(error: unknown): void
}

/**
 * Every scope is taken as it is, whatever its mode.
 * @param scopes the widest first
 * @param options.version of the rules
 * @param options.onHits told of each rule that was hit, and how often; `detector`: what found the values
 * @param options.onFailure told of a fault of ours: what it left is not stored
 */
export function createMasker(scopes: readonly ScopeRules[], options: MaskerOptions = {}): Masker {
  const { floor = [], version = 0, onHits, onFailure } = options
  const rules = rulesOf(scopes, floor, hashWith(options.secret))
  const { finding, byPlace } = rules
  /** Names of ops in which nothing was found: calls bring the same ones again and again. */
  const clean = new Set<string>()
  let allHits = 0

  function tell({ counted, isByPath }: ValueLook): Omit<Masked, 'text'> {
    for (const [{ id, kind }, hits] of counted) {
      allHits += hits
      onHits?.(id, hits, kind)
    }
    return { isByPath }
  }

  /** Fails closed: what cannot be masked is not stored. */
  function masked(
    field: MaskedField,
    ifFailed: string,
    mask: (look: ValueLook) => string,
    present = allAnchors,
  ): Masked {
    const look = lookAt(rules, field, present)
    try {
      return { text: mask(look), ...tell(look) }
    } catch (error) {
      onFailure?.(error)
      return { text: ifFailed, isByPath: false }
    }
  }

  return {
    version,
    hits: () => allHits,
    dropsContent: scopes.some(({ rules: own }) => own.content === 'drop'),
    cost: 1 + finding.filter(({ anchor }) => anchor === 0).length,
    hasPlaces: byPlace.length > 0,
    json(field, json, present) {
      const ifFailed = json.startsWith('{') ? failedObject : JSON.stringify(failed)
      return masked(field, ifFailed, ({ visitor, place }) => maskJson(json, place, visitor), present)
    },
    text(field, text, name) {
      const isName = field === 'op_name'
      if (text === '' || (isName && clean.has(text))) return { text, isByPath: false }
      const before = allHits
      const kept = masked(field, failed, ({ visitor, place: whole }) => {
        const place = name === undefined ? whole : visitor.step(whole, name)
        return visitor.value(place, () => JSON.stringify(text)) ?? visitor.string(place, text) ?? text
      })
      if (isName && allHits === before && kept.text === text) {
        if (clean.size === maxClean) clean.clear()
        clean.add(text)
      }
      return kept
    },
    anchors: anchorsOf(rules),
  }
}

function rulesOf(scopes: readonly ScopeRules[], floor: readonly string[], hash: (text: string) => string): MaskerRules {
  const rules = [
    ...scopes.flatMap(({ rules: own }, scope) => own.rules.map((rule) => compileRule(rule, rule.id, scope))),
    ...[...setsOf(scopes, floor)].flatMap(([name, scope]) => compiledSet(name, scope)),
  ]
  return {
    byPath: rules.filter(({ path }) => path !== undefined),
    byPlace: rules.filter(({ path, isKey }) => path !== undefined || isKey !== undefined),
    finding: rules.filter(({ find }) => find !== undefined),
    isAllowed: allowedBy(scopes),
    standIn({ action, kind }: Rule, text) {
      if (action === 'drop') return dropped
      if (action === 'hash') return `[${kind}:${hash(normalForm(kind, text))}]`
      return kind === 'card' ? `[card …${text.replace(/\D/g, '').slice(-4)}]` : `[${kind}]`
    },
  }
}

/** Finds what stands in bytes that the rules may find something at. */
function anchorsOf({ byPlace, finding }: MaskerRules): Masker['anchors'] {
  if (finding.some(({ anchor, literal }) => anchor === 0 && literal === undefined)) return () => allAnchors
  const anchorBits = finding.reduce((bits, { anchor }) => bits | anchor, byPlace.length > 0 ? anchors.key : 0)
  const names = [
    ...byPlace.flatMap(({ names }) => names),
    ...finding.flatMap(({ kind }) => detectorKeys[kind as DetectorName] ?? []),
  ]
  // A name that says something about a value may be in the member beside it.
  const endings = keyEndingsOf(names.length === 0 ? names : [...names, labelledName])
  const literals = finding.flatMap(({ literal }) => (literal === undefined ? [] : [literal]))
  return (bytes, start, end) => {
    const present = anchorBits === 0 ? 0 : anchorsIn(bytes, start, end, endings) & anchorBits
    if (present !== 0 || literals.length === 0) return present
    const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    return literals.some((literal) => part.includes(literal)) ? literalBit : 0
  }
}
