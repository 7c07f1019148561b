// The settings of what the server seals, and of secrets that projects may use.
import { z } from 'zod'
import { isMasterKey } from '../core/process/master-key.ts'
import { list, path, secret, setting, truth } from './setting-kinds.ts'

export const sealSettings = {
  masterKey: secret(
    setting(
      '',
      'encryption key of secrets and sessions, 32 bytes in base64; empty = a file in the data folder, on one machine',
      z.string().refine((value) => value === '' || isMasterKey(value), { error: 'must be 32 bytes in base64' }),
    ),
  ),
  masterKeyFile: path('file with the master key'),
  masterKeysOld: secret(
    list('', 'earlier master keys that can still decrypt secrets of projects', isMasterKey, '32 bytes in base64'),
  ),
  sharedSecrets: truth(true, 'projects can use the secrets of CALLHOUSE_SECRET_<NAME>'),
}
