// The services of a process: started in order, stopped in reverse order, each with the commands that it answers.
import type { ControlRequest } from './control-socket.ts'
import type { Logger } from './logger.ts'
import type { ShutdownStep } from './shutdown.ts'

/** Commands of the control socket by name, such as `deadletters.list`. */
export type CommandTable = Readonly<Record<string, (args: string[]) => unknown>>

export type Service<Started> = {
  name: string
  /** Undefined = this process has no such service: nothing is stopped, no command is answered. */
  start(): Started | Promise<Started>
  stop?(started: Exclude<Started, undefined>): unknown
  /** Longest time that its stop may take. Default 5 s. */
  stopMs?: number
  commands?(started: Exclude<Started, undefined>): CommandTable
}

export type Services = {
  /** Starts a service after those before it. A failure is logged with its name, and thrown as it is. */
  start<Started>(service: Service<Started>): Promise<Started>
  /** Runs a command of a service that was started. @throws Error for a command that none of them has */
  run(request: ControlRequest): Promise<unknown>
  /** The stops of all that were started, the last first. */
  stops(): ShutdownStep[]
  /** Stops all that were started, the last first, and goes on past those that fail: for a start that failed. */
  stopAll(): Promise<void>
}

const usualStopMs = 5_000

/** @throws Error for a command that the table does not have */
export async function runCommand(commands: CommandTable, { command, args }: ControlRequest): Promise<unknown> {
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (run === undefined) throw new Error(`Unknown command ${command}`)
  return run(args)
}

export function createServices(logger: Pick<Logger, 'warn'>): Services {
  const steps: ShutdownStep[] = []
  const commands: Record<string, CommandTable[string]> = {}

  function addCommands(name: string, table: CommandTable): void {
    for (const [command, run] of Object.entries(table)) {
      if (Object.hasOwn(commands, command)) throw new Error(`the service ${name} has the command ${command} of another`)
      commands[command] = run
    }
  }

  const stops = (): ShutdownStep[] => steps.toReversed()
  return {
    async start<Started>({ name, start, stop, stopMs = usualStopMs, commands: commandsOf }: Service<Started>) {
      try {
        const started = await start()
        if (started === undefined) return started
        const running = started as Exclude<Started, undefined>
        if (stop) steps.push({ name, limitMs: stopMs, close: async () => void (await stop(running)) })
        if (commandsOf) addCommands(name, commandsOf(running))
        return started
      } catch (error) {
        logger.warn({ service: name, reason: error instanceof Error ? error.message : String(error) }, 'not started')
        throw error
      }
    },
    run: (request) => runCommand(commands, request),
    stops,
    async stopAll() {
      for (const { close } of stops()) await Promise.resolve(close()).catch(() => undefined)
    },
  }
}
