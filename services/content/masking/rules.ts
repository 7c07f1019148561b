// The rules of masking, and the sets of them that are built in.
import type { MaskedField, MaskRules, maskSetNames } from '../../../schemas/mask-rules.ts'

export type MaskRule = MaskRules['rules'][number]

/** They are looked into by their paths only: they are ids, which other calls name too. */
export const maskedByPathOnly: ReadonlySet<MaskedField> = new Set(['thread_id', 'turn_id'])

/** Values under names of secrets (secret-names.ts). */
type SecretsRule = Pick<MaskRule, 'id' | 'action'> & { names: 'secrets' }
export type SetRule = MaskRule | SecretsRule

/** Sets that are built in. */
export const maskSets: Readonly<Record<(typeof maskSetNames)[number], readonly SetRule[]>> = {
  '@credentials': [
    { id: 'token', detect: 'token', action: 'mask' },
    { id: 'credential', names: 'secrets', action: 'mask' },
  ],
  '@payment': [
    { id: 'card', detect: 'card', action: 'mask' },
    { id: 'iban', detect: 'iban', action: 'mask' },
  ],
  '@contact': [
    { id: 'email', detect: 'email', action: 'mask' },
    { id: 'phone', detect: 'phone', action: 'mask' },
  ],
}
