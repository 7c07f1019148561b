// The setting of masking.
import { maskSetNames } from '../../schemas/mask-rules.ts'
import { list } from './setting-kinds.ts'

export const maskFloor = list(
  '',
  'masking sets that are always on: @credentials, @payment, @contact',
  (name) => (maskSetNames as readonly string[]).includes(name),
  'sets',
)
