// One look at one value by the rules of a project: finds what they hit, puts something in its place, and counts.
import type { MaskedField } from '../../../schemas/mask-rules.ts'
import { ownValueKey } from '../../core/json/own-value.ts'
import { isRef } from '../refs.ts'
import type { Rule } from './compiled-rules.ts'
import { detectors, type Hit, isSpelledNumber, numberTexts, numericDetectors } from './detectors.ts'
import { embeddedJson } from './embedded-json.ts'
import { maskJson, type Visitor } from './mask-json.ts'
import { maskRefParts } from './mask-ref.ts'
import { beginPath, endsHere, normalName, type Path, type PathProgress, stepPath } from './paths.ts'
import { maskedByPathOnly } from './rules.ts'

/** The rules of a masker, by what they go by. */
export type MaskerRules = {
  byPath: readonly Rule[]
  /** By paths, or by names of members. */
  byPlace: readonly Rule[]
  /** By what a text says. */
  finding: readonly Rule[]
  isAllowed(rule: Rule, hit: string): boolean
  /** The text that replaces one that a rule has hit. */
  standIn(rule: Rule, text: string): string
}

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

/** Rules that hit a value for its name, or for where it lies. */
const rulesAt = (rules: readonly Rule[], { name, spelled, paths }: Place, pathRules: readonly Rule[]): Rule[] =>
  rules.filter(
    (one) => one.isKey?.(name, spelled) || (one.path && endsHere(one.path, paths[pathRules.indexOf(one)] ?? [])),
  )

export type ValueLook = {
  rules: MaskerRules
  /** Hits by rule. */
  counted: Map<Rule, number>
  /** A value was masked for its path, which other copies of it do not have. */
  isByPath: boolean
  /** Rules that reach the field. */
  paths: readonly Rule[]
  places: readonly Rule[]
  finding: readonly Rule[]
  detecting: readonly Rule[]
  numeric: readonly Rule[]
  /** The place of the whole field. */
  place: Place
  visitor: Visitor<Place>
}

/** @param present what `anchors` tells of the value: what is not there is not looked for */
export function lookAt(rules: MaskerRules, field: MaskedField, present: number): ValueLook {
  const isPresent = ({ anchor }: Rule): boolean => anchor === 0 || (anchor & present) !== 0
  const finding = maskedByPathOnly.has(field) ? [] : rules.finding.filter((rule) => rule.isIn(field) && isPresent(rule))
  const paths = rules.byPath.filter((rule) => rule.isIn(field))
  const look: Omit<ValueLook, 'visitor'> & { visitor?: Visitor<Place> } = {
    rules,
    counted: new Map(),
    isByPath: false,
    paths,
    places: rules.byPlace.filter((rule) => rule.isIn(field)),
    finding,
    detecting: finding.filter(({ kind }) => kind in detectors),
    numeric: finding.filter(({ kind, literal, anchor }) => anchor === 0 || literal || numericDetectors.has(kind)),
    place: placeOf(field, paths),
  }
  return Object.assign(look, { visitor: visitorOf(look as ValueLook) })
}

const visitorOf = (look: ValueLook): Visitor<Place> => ({
  step: (place, name) => stepInto(look, place, name),
  pair: (place, label) => ({ ...stepInto(look, place, label), paths: place.paths.map(() => []) }),
  value: (place, raw) => maskPlaced(look, place, raw),
  string: (place, text) => maskText(look, place, text),
  number: (place, text) => maskNumber(look, place, text),
})

function count(look: ValueLook, rule: Rule): void {
  look.isByPath ||= rule.path !== undefined
  look.counted.set(rule, (look.counted.get(rule) ?? 0) + 1)
}

function stepInto(look: ValueLook, place: Place, name: string): Place {
  // The value of an object itself stands under the name of the object.
  if (name === ownValueKey) return place
  const { paths, isOfText } = place
  const normal = normalName(name)
  return {
    name: normal,
    spelled: name,
    isOfText: isOfText || ofText.has(normal),
    paths: paths.map((progress, n) => stepPath(look.paths[n]?.path as Path, progress, name)),
  }
}

/** A value that a rule hits for its place; null = it stays. */
function maskPlaced(look: ValueLook, place: Place, raw: () => string): string | null {
  const { isAllowed, standIn } = look.rules
  const hitting = rulesAt(look.places, place, look.paths)
  if (hitting.length === 0) return null
  const json = raw()
  if (json === 'null' || json === '""') return null
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
  const rule = hitting.find((one) => (one.takes?.(place, json) ?? true) && !isAllowed(one, text))
  const kept = rule === undefined ? text : standIn(rule, text)
  if (rule === undefined || text === kept) return null
  count(look, rule)
  return kept
}

function maskText(look: ValueLook, place: Place, text: string): string | null {
  if (mayHoldJson(text)) return maskInside(look, text, place)
  return (isSpelledNumber(text) ? maskNumber(look, place, text) : null) ?? replaced(look, text, place.name)
}

function maskNumber(look: ValueLook, place: Place, text: string): string | null {
  if (look.numeric.length === 0) return null
  for (const one of numberTexts(text, place.name)) {
    const kept = replaced(look, one, place.name, look.numeric)
    if (kept !== null) return kept
  }
  return null
}

function replaced(look: ValueLook, text: string, name: string, by: readonly Rule[] = look.finding): string | null {
  if (!isRef(text)) return replacedHits(look, text, name, by)
  return maskRefParts(text, (part, key, isOwner) => replacedHits(look, part, key, isOwner ? look.detecting : by))
}

/** The text without what the rules find in it; null = they find nothing. */
function replacedHits(look: ValueLook, text: string, name: string, by: readonly Rule[]): string | null {
  const { isAllowed, standIn } = look.rules
  const hits: (Hit & { rule: Rule })[] = []
  for (const rule of by) for (const hit of rule.find?.(text, name) ?? []) hits.push({ ...hit, rule })
  if (hits.length === 0) return null
  hits.sort((a, b) => a.start - b.start || b.end - a.end)
  let out = ''
  let copied = 0
  for (const { start, end, rule } of hits) {
    const hit = text.slice(start, end)
    if (start < copied || isAllowed(rule, hit)) continue
    count(look, rule)
    out += text.slice(copied, start) + standIn(rule, hit)
    copied = end
  }
  return copied === 0 ? null : out + text.slice(copied)
}

/** A text with the JSON texts in it masked as what they say, and what stands around them. */
function maskInside(look: ValueLook, text: string, place: Place): string | null {
  const bare = unescaped(text)
  if (bare !== undefined) {
    const kept = maskText(look, place, bare)
    return kept === null ? null : JSON.stringify(kept).slice(1, -1)
  }
  const parts = embeddedJson(text)
  if (parts.length === 0) return replaced(look, text, place.name)
  let out = ''
  let copied = 0
  const around = (end: number): string => {
    const part = text.slice(copied, end)
    return part === '' ? '' : (replaced(look, part, place.name) ?? part)
  }
  for (const { start, end, isString } of parts) {
    const json = text.slice(start, end)
    out += around(start)
    if (isString) {
      const kept = maskText(look, place, JSON.parse(json) as string)
      out += kept === null ? json : JSON.stringify(kept)
    } else out += maskJson(json, place, look.visitor)
    copied = end
  }
  out += around(text.length)
  return out === text ? null : out
}
