// One rule of masking: what finds a value, where, and what stays of it.

import { IconButton } from '../parts/button.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import type { Shapes } from '../routes.gen.ts'

export type Rule = Shapes['masking.read']['out']['rules']['rules'][number]
type Way = 'detect' | 'keys' | 'path' | 'pattern'
export type RuleDraft = { key: number; id: string; way: Way; value: string; where: string; action: Rule['action'] }

const ways: Record<Way, { label: string; example: string }> = {
  detect: { label: 'looks like', example: '' },
  keys: { label: 'has a name like', example: '*_note, ssn' },
  path: { label: 'is at path', example: 'inputs.customer.name' },
  pattern: { label: 'matches', example: 'ACME-\\d{6}' },
}
const detectors = {
  email: 'an email address',
  card: 'a card number',
  token: 'a token or key',
  phone: 'a phone number',
  iban: 'an IBAN',
  ip: 'an IP address',
  us_ssn: 'a US social security number',
}
const actions: Record<Rule['action'], string> = {
  mask: 'replace with type',
  hash: 'replace with hash',
  drop: 'remove',
}

export const emptyRule = (key: number, n = key): RuleDraft => ({
  key,
  id: `rule-${n}`,
  way: 'detect',
  value: 'email',
  where: '',
  action: 'mask',
})

const words = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

export function ruleOf({ id, way, value, where, action }: RuleDraft): object {
  const found = way === 'keys' ? words(value) : value.trim()
  const parts = words(where)
  return { id: id.trim(), [way]: found, ...(parts.length > 0 && { in: parts }), action }
}

type Props = { rule: RuleDraft; place: number; onRule(rule: RuleDraft): void; onRemove(): void }

export function MaskRule({ rule, place, onRule, onRemove }: Props) {
  const change = (part: Partial<RuleDraft>) => onRule({ ...rule, ...part })
  return (
    <div className="mask-rule" role="group" aria-label={`Rule ${place}`}>
      <Input aria-label="Rule ID" className="mono" value={rule.id} onText={(text) => change({ id: text })} />
      <Select
        aria-label="Match type"
        value={rule.way}
        of={(Object.keys(ways) as Way[]).map((way) => [way, ways[way].label] as const)}
        onValue={(value) => {
          const way = value as Way
          change({ way, value: way === 'detect' ? 'email' : '' })
        }}
      />
      {rule.way === 'detect' ? (
        <Select
          aria-label="Looks like"
          value={rule.value}
          of={detectors}
          onValue={(value) => change({ value: value })}
        />
      ) : (
        <Input
          aria-label={ways[rule.way].label}
          className="mono"
          placeholder={ways[rule.way].example}
          value={rule.value}
          onText={(text) => change({ value: text })}
        />
      )}
      <Input
        aria-label="Only in these parts"
        placeholder="in all parts"
        title="inputs, output, attributes, …; empty: everywhere"
        disabled={rule.way === 'path'}
        value={rule.where}
        onText={(text) => change({ where: text })}
      />
      <Select
        aria-label="Action"
        value={rule.action}
        of={(Object.keys(actions) as Rule['action'][]).map((action) => [action, actions[action]] as const)}
        onValue={(value) => change({ action: value as Rule['action'] })}
      />
      <IconButton icon="close" label={`Remove rule ${place}`} onClick={onRemove} />
    </div>
  )
}
