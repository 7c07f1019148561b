// `callhouse config`: every setting, its value and its meaning.
import { type Config, describeConfig } from '../app/config.ts'
import { print } from './command.ts'

export function showConfig(config: Config): void {
  for (const { name, flag, value, help } of describeConfig(config))
    print(`${name}${flag ? ` (${flag})` : ''} = ${value}\n    ${help}`)
}
