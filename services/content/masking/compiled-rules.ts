// The rules of masking as they are looked for: what finds their values, and what must stand in a payload for that.
import type { MaskedField, MaskRules } from '../../../schemas/mask-rules.ts'
import { anchors } from './anchors.ts'
import { type DetectorName, detectors, type Find } from './detectors.ts'
import { globOf, normalName, type Path, pathOf } from './paths.ts'
import { compilePattern } from './patterns.ts'
import { type MaskRule, maskSets, type SetRule } from './rules.ts'
import { asSecretName, isSecretValue, secretNameEndings } from './secret-names.ts'

/** Rules of one place: of everything, an entity or a project. */
export type ScopeRules = { rules: MaskRules }

export type Rule = Pick<MaskRule, 'id' | 'action'> & {
  /** Index of the scope, the widest first; -1 = no scope can change it. */
  scope: number
  isIn(field: MaskedField): boolean
  find?: Find
  anchor: number
  literal: Buffer | undefined
  /** @param name normalised; @param spelled as it stands there */
  isKey?(name: string, spelled: string): boolean
  /** Whether it takes a value under such a name, any by default. @param json its text */
  takes?(at: { spelled: string; isOfText: boolean }, json: string): boolean
  path?: Path
  /** Ends of the names that it goes by; '' = any. */
  names: readonly string[]
  kind: string
}

/** The anchors that a payload must have for a detector to find anything. */
const anchorsOf: Record<DetectorName, number> = {
  email: anchors.at,
  card: anchors.digits,
  token: anchors.token | anchors.at,
  phone: anchors.plus | anchors.key,
  iban: anchors.capitals,
  ip: anchors.dots | anchors.colon,
  us_ssn: anchors.key,
}

const plainRule = { isIn: () => true, anchor: 0, literal: undefined, names: [] }

function secretsRule({ id: kind, action }: SetRule, id: string, scope: number): Rule {
  const isKey = (_: string, spelled: string): boolean => asSecretName(spelled) !== null
  const takes: Rule['takes'] = ({ spelled, isOfText }, json) => {
    const name = asSecretName(spelled)
    return name !== null && !(isOfText && spelled === 'token') && isSecretValue(name, json)
  }
  return { ...plainRule, id, action, scope, kind, isKey, takes, names: secretNameEndings }
}

export function compileRule(rule: SetRule, id: string, scope: number): Rule {
  if ('names' in rule) return secretsRule(rule, id, scope)
  const { detect, keys, path, pattern, action } = rule
  const fields = rule.in && new Set<string>(rule.in)
  const isIn = (field: MaskedField): boolean => fields?.has(field) ?? true
  const base = { ...plainRule, id, action, scope, isIn }
  if (detect !== undefined) {
    const name = detect as DetectorName
    // The detector of a later version: it finds nothing here.
    const find: Find = detectors[name] ?? (() => [])
    return { ...base, kind: detect, find, anchor: anchorsOf[name] ?? anchors.at }
  }
  if (pattern !== undefined) {
    const { find, literal } = compilePattern(pattern)
    return { ...base, kind: rule.id, find, literal: literal === '' ? undefined : Buffer.from(literal) }
  }
  const lastOf = (name: string): string => normalName(name.slice(name.lastIndexOf('*') + 1))
  if (path !== undefined) {
    const segments = pathOf(path)
    return {
      ...base,
      kind: rule.id,
      path: segments,
      names: segments.length === 1 ? [''] : [lastOf(segments.at(-1) ?? '')],
    }
  }
  const globs = (keys ?? []).map(globOf)
  return { ...base, kind: rule.id, isKey: (name) => globs.some((fits) => fits(name)), names: (keys ?? []).map(lastOf) }
}

export const compiledSet = (name: string, scope: number): Rule[] =>
  (maskSets[name as keyof typeof maskSets] ?? []).map((rule) => compileRule(rule, `${name}:${rule.id}`, scope))

/** Texts that look like a hit and are none, by the patterns of `allow`: of a scope for its own rules and narrower ones. */
export const allowedBy = (scopes: readonly ScopeRules[]): ((rule: Rule, text: string) => boolean) => {
  const allowed = scopes.map(({ rules }) => rules.allow.map((pattern) => compilePattern(pattern).find))
  return ({ scope }, text) =>
    allowed.some((finds, from) => from <= scope && finds.some((find) => find(text, '').length > 0))
}

/** Names of sets with the widest scope that has them. */
export const setsOf = (scopes: readonly ScopeRules[], floor: readonly string[]): ReadonlyMap<string, number> =>
  new Map([
    ...scopes.flatMap(({ rules }, scope) => rules.sets.map((name): [string, number] => [name, scope])).reverse(),
    ...floor.map((name): [string, number] => [name, -1]),
  ])
