// The rules of masking, and the sets of them that are built in.
import type { MaskedField, MaskRules, maskSetNames } from '../../../schemas/mask-rules.ts'

export type MaskRule = MaskRules['rules'][number]

/** They are looked into by their paths only: they are ids, which other calls name too. */
export const maskedByPathOnly: ReadonlySet<MaskedField> = new Set(['thread_id', 'turn_id'])

/** Globs over the names of members that hold credentials. */
const credentialNames = [
  '*password',
  '*passwd',
  '*passphrase',
  '*pwd',
  'client_secret',
  '*secret_key',
  '*api_key',
  '*access_token',
  '*refresh_token',
  '*auth_token',
  '*session_token',
  '*bearer_token',
  '*private_key',
  'authorization',
  '*secret_access_key',
]

/** Sets that are built in. */
export const maskSets: Readonly<Record<(typeof maskSetNames)[number], readonly MaskRule[]>> = {
  '@credentials': [
    { id: 'token', detect: 'token', action: 'mask' },
    { id: 'credential', keys: credentialNames, action: 'mask' },
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
