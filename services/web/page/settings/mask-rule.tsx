// One rule of masking: what finds a value, where, and what stays of it.
import type { Shapes } from '../api/routes.gen.ts'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'

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
      <select
        aria-label="Match type"
        value={rule.way}
        onChange={({ target }) => {
          const way = target.value as Way
          change({ way, value: way === 'detect' ? 'email' : '' })
        }}
      >
        {(Object.keys(ways) as Way[]).map((way) => (
          <option key={way} value={way}>
            {ways[way].label}
          </option>
        ))}
      </select>
      {rule.way === 'detect' ? (
        <select aria-label="Looks like" value={rule.value} onChange={({ target }) => change({ value: target.value })}>
          {Object.entries(detectors).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
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
      <select
        aria-label="Action"
        value={rule.action}
        onChange={({ target }) => change({ action: target.value as Rule['action'] })}
      >
        {(Object.keys(actions) as Rule['action'][]).map((action) => (
          <option key={action} value={action}>
            {actions[action]}
          </option>
        ))}
      </select>
      <button type="button" className="icon" aria-label={`Remove rule ${place}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </div>
  )
}
