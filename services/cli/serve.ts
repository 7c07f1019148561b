// `callhouse serve` and the single roles: a server that runs until a signal ends it.
import type { Config } from '../app/config.ts'
import { exporterText } from '../app/otlp-ports.ts'
import type { ServerRole } from '../app/roles.ts'
import { startCallhouse } from '../app/server.ts'
import { createLogger } from '../core/process/logger.ts'
import { packageVersion } from '../core/process/version.ts'
import { print } from './command.ts'

export async function serve(config: Config, role: ServerRole): Promise<void> {
  const output = createLogger({ level: config.logLevel, format: config.logFormat })
  const callhouse = await startCallhouse(config, output, role)
  callhouse.shutdown.onSignals()
  print(`callhouse ${role === 'serve' ? '' : `${role} `}${await packageVersion()} listens on ${callhouse.url}`)
  const { grpc, http } = callhouse.otlp ?? {}
  const ports = [grpc && `${grpc} (gRPC)`, http && `${http} (HTTP)`].filter(Boolean)
  if (ports.length > 0) print(`OTLP: ${ports.join(', ')}, and ${callhouse.url}/v1/traces`)
  print(`data folder: ${config.dataDir}`)
  if (callhouse.firstKey && callhouse.otlp) {
    const { host: main, protocol } = new URL(callhouse.url)
    print(exporterText({ ...callhouse.otlp, main }, protocol === 'https:'))
  }
  // Last and alone: nothing else of a start is needed again.
  if (callhouse.firstKey) print(`\nfirst API key (shown once, keep it): ${callhouse.firstKey}`)
  if (callhouse.firstKey && config.page) print(`the web page: ${callhouse.url}/sign-in#key=${callhouse.firstKey}\n`)
  // Whoever started this process may build the page now, without holding anything up.
  process.send?.({ listens: callhouse.url })
}
