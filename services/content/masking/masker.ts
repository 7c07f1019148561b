// Masks the texts of one project by its rules, before anything of them is stored.
import { createHmac } from 'node:crypto'
import type { MaskedField } from '../../../schemas/mask-rules.ts'
import { ownValueKey } from '../../core/json/own-value.ts'
import { isRef } from '../refs.ts'
import { type AnchorsIn, allAnchors, anchors, anchorsIn, keyEndingsOf } from './anchors.ts'
import { allowedBy, compiledSet, compileRule, type Rule, type ScopeRules, setsOf } from './compiled-rules.ts'
import {
  type DetectorName,
  detectorKeys,
  detectors,
  type Hit,
  isSpelledNumber,
  numberTexts,
  numericDetectors,
} from './detectors.ts'
import { embeddedJson } from './embedded-json.ts'
import { labelledName, maskJson, type Visitor } from './mask-json.ts'
import { maskRefParts } from './mask-ref.ts'
import { beginPath, endsHere, normalName, type Path, type PathProgress, stepPath } from './paths.ts'
import { maskedByPathOnly } from './rules.ts'

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
  /** Whether some rule goes by the place of a text that is a field by itself, whatever it says. */
  isPlaced(field: MaskedField): boolean
  /** @param name of the member that holds it, by which some rules go */
  text(field: MaskedField, text: string, name?: string): Masked
  /**
   * Bits of what stands in a payload in UTF-8 bytes that rules may find something at; 0 = it holds nothing to mask, as most.
   * @param look finds the anchors in it
   */
  anchors(bytes: Uint8Array, start: number, end: number, look?: AnchorsIn): number
}

/** The literal part of a pattern: rules without an anchor are always looked for. */
const literalBit = allAnchors + 1

const dropped = '[dropped]'
const failed = '[masking failed]'
/** Objects stay objects: SDKs read nothing else there. */
const failedObject = JSON.stringify({ masking: failed })
const maxHashed = 10_000

const mayHoldJson = (text: string): boolean => text.includes('"') && /[[{]/.test(text)

/** The value of a text that is the inside of a JSON string; undefined for any other. */
function unescaped(text: string): string | undefined {
  if (!/^\s*[[{]\s*\\/.test(text)) return undefined
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

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

type Place = {
  name: string
  /** The name as it is spelled there. */
  spelled: string
  paths: readonly PathProgress[]
  /** Within what a model says of its pieces of text, which are called tokens. */
  isOfText: boolean
}

/** Members that hold pieces of text. */
const ofText = new Set(['logprobs', 'toplogprobs', 'addedtokens', 'specialtokens'])

/** The place of a field, with the progress of some rules' paths. */
const placeOf = (field: MaskedField, pathRules: readonly Rule[]): Place => ({
  // The names of ops are no members: a rule for names such as `*name` would make all of them the same.
  name: field === 'op_name' ? '' : normalName(field),
  spelled: field,
  isOfText: false,
  paths: pathRules.map(({ path }) => beginPath(path as Path, field)),
})

/**
 * Every scope is taken as it is, whatever its mode.
 * @param scopes the widest first
 * @param options.version of the rules
 * @param options.onHits told of each rule that was hit, and how often; `detector`: what found the values
 * @param options.onFailure told of a fault of ours: what it left is not stored
 */
export function createMasker(
  scopes: readonly ScopeRules[],
  options: {
    floor?: readonly string[]
    secret?: Buffer | undefined
    version?: number
    onHits?(rule: string, hits: number, detector: string): void
    onFailure?(error: unknown): void
  } = {},
): Masker {
  const { floor = [], version = 0, onHits, onFailure } = options
  let allHits = 0
  const rules = [
    ...scopes.flatMap(({ rules: own }, scope) => own.rules.map((rule) => compileRule(rule, rule.id, scope))),
    ...[...setsOf(scopes, floor)].flatMap(([name, scope]) => compiledSet(name, scope)),
  ]
  const isAllowed = allowedBy(scopes)
  const hash = hashWith(options.secret)
  const byPath = rules.filter(({ path }) => path !== undefined)
  const byPlace = rules.filter(({ path, isKey }) => path !== undefined || isKey !== undefined)
  const finding = rules.filter(({ find }) => find !== undefined)
  const always = finding.some(({ anchor, literal }) => anchor === 0 && literal === undefined)
  const anchorBits = finding.reduce((bits, { anchor }) => bits | anchor, byPlace.length > 0 ? anchors.key : 0)
  const names = [
    ...byPlace.flatMap(({ names }) => names),
    ...finding.flatMap(({ kind }) => detectorKeys[kind as DetectorName] ?? []),
  ]
  // A name that says something about a value may be in the member beside it.
  const endings = keyEndingsOf(names.length === 0 ? names : [...names, labelledName])
  const literals = finding.flatMap(({ literal }) => (literal === undefined ? [] : [literal]))

  function standIn({ action, kind }: Rule, text: string): string {
    if (action === 'drop') return dropped
    if (action === 'hash') return `[${kind}:${hash(normalForm(kind, text))}]`
    return kind === 'card' ? `[card …${text.replace(/\D/g, '').slice(-4)}]` : `[${kind}]`
  }

  const placed = new Map<MaskedField, boolean>()

  /** Rules that hit a value for its name, or for where it lies. */
  const rulesAt = (rules: readonly Rule[], { name, spelled, paths }: Place, pathRules: readonly Rule[]): Rule[] =>
    rules.filter(
      (one) => one.isKey?.(name, spelled) || (one.path && endsHere(one.path, paths[pathRules.indexOf(one)] ?? [])),
    )

  /** One look at one value; counts what it hits. */
  function lookIn(
    field: MaskedField,
    present: number,
  ): { visitor: Visitor<Place>; tell: () => Omit<Masked, 'text'>; place: Place } {
    const counted = new Map<Rule, number>()
    let isByPath = false
    const count = (rule: Rule): void => {
      isByPath ||= rule.path !== undefined
      counted.set(rule, (counted.get(rule) ?? 0) + 1)
    }
    const ownPaths = byPath.filter((rule) => rule.isIn(field))
    const ownPlaces = byPlace.filter((rule) => rule.isIn(field))
    const isPresent = ({ anchor }: Rule): boolean => anchor === 0 || (anchor & present) !== 0
    const ownFinding = maskedByPathOnly.has(field) ? [] : finding.filter((rule) => rule.isIn(field) && isPresent(rule))

    const detecting = ownFinding.filter(({ kind }) => kind in detectors)
    const numeric = ownFinding.filter(
      ({ kind, literal, anchor }) => anchor === 0 || literal || numericDetectors.has(kind),
    )

    function replaced(text: string, name: string, by: readonly Rule[] = ownFinding): string | null {
      if (isRef(text)) return maskRefParts(text, (part, key, isOwner) => found(part, key, isOwner ? detecting : by))
      return found(text, name, by)
    }

    function found(text: string, name: string, by: readonly Rule[]): string | null {
      const hits: (Hit & { rule: Rule })[] = []
      for (const rule of by) for (const hit of rule.find?.(text, name) ?? []) hits.push({ ...hit, rule })
      if (hits.length === 0) return null
      hits.sort((a, b) => a.start - b.start || b.end - a.end)
      let out = ''
      let copied = 0
      for (const { start, end, rule } of hits) {
        const hit = text.slice(start, end)
        if (start < copied || isAllowed(rule, hit)) continue
        count(rule)
        out += text.slice(copied, start) + standIn(rule, hit)
        copied = end
      }
      return copied === 0 ? null : out + text.slice(copied)
    }

    const visitor: Visitor<Place> = {
      step(place, name) {
        // The value of an object itself stands under the name of the object.
        if (name === ownValueKey) return place
        const { paths, isOfText } = place
        return {
          name: normalName(name),
          spelled: name,
          isOfText: isOfText || ofText.has(normalName(name)),
          paths: paths.map((progress, n) => stepPath(ownPaths[n]?.path as Path, progress, name)),
        }
      },
      pair: (place, label) => ({ ...visitor.step(place, label), paths: place.paths.map(() => []) }),
      value(at, raw) {
        const hitting = rulesAt(ownPlaces, at, ownPaths)
        if (hitting.length === 0) return null
        const json = raw()
        if (json === 'null' || json === '""') return null
        const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
        const rule = hitting.find((one) => (one.takes?.(at, json) ?? true) && !isAllowed(one, text))
        const kept = rule === undefined ? text : standIn(rule, text)
        if (rule === undefined || text === kept) return null
        count(rule)
        return kept
      },
      string: (place, text) =>
        mayHoldJson(text)
          ? inside(text, place)
          : ((isSpelledNumber(text) ? visitor.number(place, text) : null) ?? replaced(text, place.name)),
      number(place, text) {
        if (numeric.length === 0) return null
        for (const one of numberTexts(text, place.name)) {
          const kept = replaced(one, place.name, numeric)
          if (kept !== null) return kept
        }
        return null
      },
    }

    /** A text with the JSON texts in it masked as what they say, and what stands around them. */
    function inside(text: string, place: Place): string | null {
      const bare = unescaped(text)
      if (bare !== undefined) {
        const kept = visitor.string(place, bare)
        return kept === null ? null : JSON.stringify(kept).slice(1, -1)
      }
      const parts = embeddedJson(text)
      if (parts.length === 0) return replaced(text, place.name)
      let out = ''
      let copied = 0
      const around = (end: number): string => {
        const part = text.slice(copied, end)
        return part === '' ? '' : (replaced(part, place.name) ?? part)
      }
      for (const { start, end, isString } of parts) {
        const json = text.slice(start, end)
        out += around(start)
        if (isString) {
          const kept = visitor.string(place, JSON.parse(json) as string)
          out += kept === null ? json : JSON.stringify(kept)
        } else out += maskJson(json, place, visitor)
        copied = end
      }
      out += around(text.length)
      return out === text ? null : out
    }

    return {
      visitor,
      place: placeOf(field, ownPaths),
      tell() {
        for (const [{ id, kind }, hits] of counted) {
          allHits += hits
          onHits?.(id, hits, kind)
        }
        return { isByPath }
      },
    }
  }

  /** Fails closed: what cannot be masked is not stored. */
  function looked(
    field: MaskedField,
    ifFailed: string,
    look: (of: ReturnType<typeof lookIn>) => string,
    present = allAnchors,
  ): Masked {
    const one = lookIn(field, present)
    try {
      return { text: look(one), ...one.tell() }
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
      return looked(field, ifFailed, ({ visitor, place }) => maskJson(json, place, visitor), present)
    },
    isPlaced(field) {
      const known = placed.get(field)
      if (known !== undefined) return known
      const own = (all: readonly Rule[]) => all.filter((rule) => rule.isIn(field))
      const is = rulesAt(own(byPlace), placeOf(field, own(byPath)), own(byPath)).length > 0
      placed.set(field, is)
      return is
    },
    text(field, text, name) {
      if (text === '') return { text, isByPath: false }
      return looked(field, failed, ({ visitor, place: whole }) => {
        const place = name === undefined ? whole : visitor.step(whole, name)
        return visitor.value(place, () => JSON.stringify(text)) ?? visitor.string(place, text) ?? text
      })
    },
    anchors(bytes, start, end, look = anchorsIn) {
      if (always) return allAnchors
      const found = anchorBits === 0 ? 0 : look(bytes, start, end, endings) & anchorBits
      if (found !== 0 || literals.length === 0) return found
      const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
      return literals.some((literal) => part.includes(literal)) ? literalBit : 0
    },
  }
}
