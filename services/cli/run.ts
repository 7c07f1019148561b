// Finds the command that was typed, reads its words, flags and settings, and runs it.
import { loadConfig } from '../app/config.ts'
import { reachOf } from '../app/drivers.ts'
import { umaskOf } from '../core/files/private-folder.ts'
import { packageVersion } from '../core/process/version.ts'
import { type Command, commandUsage, print, takes, UsageError } from './command.ts'
import { commands } from './commands.ts'

const columns = 40

function helpOf(shown: readonly Command[]): string {
  const lines = shown.map((command) => {
    const usage = `  callhouse ${commandUsage(command)}`
    return usage.length < columns
      ? `${usage.padEnd(columns)}${command.help}`
      : `${usage}\n${' '.repeat(columns)}${command.help}`
  })
  return lines.join('\n')
}

const help = `callhouse: trace, evaluation and inference server

${helpOf(commands)}
${helpOf([
  { name: 'help', words: '[command]', help: 'shows this text, or the help of one command', run: async () => {} },
  { name: 'version', help: 'shows the version', run: async () => {} },
])}

Settings are flags (--port 7000) or variables (CALLHOUSE_PORT=7000).
`

const firstOf = ({ name }: Command): string => name.split(' ')[0] as string
const ofVerb = (verb: string | undefined): Command[] => commands.filter((command) => firstOf(command) === verb)

const unknown = (verb: string) => new UsageError(`Unknown command ${verb}; 'callhouse help' lists all`)

/** @throws UsageError when there is none of the name */
function helpFor(verb: string | undefined): string {
  if (verb === undefined) return help
  const shown = ofVerb(verb)
  if (shown.length === 0) throw unknown(verb)
  return helpOf(shown)
}

/** @param argv without the program's name */
export async function run(argv: readonly string[]): Promise<void> {
  const [verb = 'help', ...rest] = argv
  if (['help', '--help', '-h'].includes(verb)) return print(helpFor(rest[0]))
  if (verb === 'version' || verb === '--version') return print(await packageVersion())
  const known = ofVerb(verb)
  if (known.length === 0) throw unknown(verb)
  if (rest.includes('--help') || rest.includes('-h')) return print(helpOf(known))
  const usage = () => new UsageError(`usage:\n${helpOf(known)}`)
  const command = known.find(({ name }) => name === `${verb} ${rest[0]}`) ?? known.find(({ name }) => name === verb)
  if (command === undefined) throw usage()
  const flagNames = Object.entries(command.flags ?? {})
  const loaded = loadConfig({
    env: process.env,
    argv: command.name === verb ? rest : rest.slice(1),
    commandFlags: Object.fromEntries(flagNames.map(([name, value]) => [name, value === '' ? 'boolean' : 'string'])),
  })
  if (!loaded.ok) throw new UsageError(loaded.lines.join('\n'))
  const { config, words, flags } = loaded
  if (!takes(command, words.length)) throw usage()
  process.umask(umaskOf(reachOf(config)))
  await command.run({ config, words, flag: (name) => flags.get(name) ?? '' })
}
