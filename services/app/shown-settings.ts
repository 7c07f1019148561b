// The settings as `GET /server/settings` tells them.
import type { OperatorDeps } from '../query/service/server-routes.ts'
import { type Config, describeConfig } from './config.ts'

export function shownSettings(config: Config): ReturnType<OperatorDeps['settings']> {
  const rows = describeConfig(config)
  return {
    settings: rows
      .filter(({ flag }) => flag !== '')
      .map(({ key, name, flag, value, help, isSecret, isDefault }) => ({
        name: key,
        env: name,
        flag,
        help,
        is_default: isDefault,
        value: isSecret ? null : value,
      })),
    secrets: rows.flatMap(({ name, flag }) => (flag === '' ? [name] : [])),
  }
}
