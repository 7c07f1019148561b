// `npm run otlp`: compiles the OTLP definitions of schemas/otlp to the decoders of services/ingest/otel/messages.mjs.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pbjs from 'protobufjs-cli/pbjs.js'

const folder = fileURLToPath(new URL('../schemas/otlp', import.meta.url))
export const messagesFile = fileURLToPath(new URL('../services/ingest/otel/messages.mjs', import.meta.url))

const compile = promisify(pbjs.main as (args: string[], done: (error: Error | null, output?: string) => void) => void)

/** Nothing but decoders: no comments, no encoders, no conversions. */
const without = ['create', 'encode', 'verify', 'convert', 'delimited', 'service', 'typeurl', 'comments']

/** The module that `messages.mjs` has to be. */
export async function otlpMessages(): Promise<string> {
  const files = ['trace/v1/trace.proto', 'logs/v1/logs.proto'].map((file) => `opentelemetry/proto/${file}`)
  const flags = without.map((what) => `--no-${what}`)
  const text = await compile(['-t', 'static-module', '-w', 'es6', '-r', 'otlp', '-p', folder, ...flags, ...files])
  return `// Compiled from schemas/otlp by \`npm run otlp\`.\n${text}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(messagesFile, await otlpMessages())
