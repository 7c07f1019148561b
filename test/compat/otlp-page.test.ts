// tier: deep compat
// The lines that docs/otlp.md gives for each language, as a reader copies them: a span that they send is a call.
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { cargoFolder, javaArguments, pythonClient } from '../fixtures/programs.ts'

const here = import.meta.dirname
const page = readFileSync(join(here, '../../docs/otlp.md'), 'utf8')
const section = /^## Each language\n([\s\S]*?)^## /m.exec(page)?.[1] ?? ''
const dir = mkdtempSync(join(tmpdir(), 'callhouse-otlp-page-'))
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--otlp-grpc-port', '0'])
})
afterAll(async () => {
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** A block of the page, with the address of this server. */
function block(language: string): string {
  const text = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1]
  if (text === undefined) throw new Error(`docs/otlp.md has no block for ${language}`)
  return text.replaceAll('127.0.0.1:4317', server.now().otlp?.grpc as string)
}
/** The variables of the page. */
function variables(): Record<string, string> {
  const given = [...block('sh').matchAll(/^export (\w+)="?([^"\n]*)"?$/gm)]
  expect(given).toHaveLength(3)
  return Object.fromEntries(given.map(([, name, value]) => [name, value?.replace('$KEY', 'test-key')]))
}

const run = promisify(execFile)
type Program = [program: string, args: string[], cwd?: string]
/** The program around the block: each makes one span of a given name. */
const programs: Record<string, (name: string) => Promise<Program>> = {
  async python(name) {
    const text = `
key = "test-key"
${block('python')}
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
provider.get_tracer("page").start_span("${name}").end()
provider.shutdown()`
    return [await pythonClient(), ['-c', text]]
  },
  async js(name) {
    const text = `${block('js')}
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.getTracer('page').startSpan('${name}').end()
await provider.shutdown()`
    return [process.execPath, ['--input-type=module', '-e', text], here]
  },
  async java(name) {
    const file = join(dir, 'Page.java')
    writeFileSync(
      file,
      `import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
class Page {
  public static void main(String[] args) {
    ${block('java')}
    sdk.getTracer("page").spanBuilder("${name}").startSpan().end();
    sdk.close();
    System.exit(0);
  }
}`,
    )
    return ['java', [...(await javaArguments()), file]]
  },
  async go(name) {
    const cwd = join(dir, 'go')
    mkdirSync(cwd)
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(here, 'go', file), join(cwd, file))
    writeFileSync(
      join(cwd, 'main.go'),
      `package main
import (
	"context"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/trace"
)
func main() {
	ctx, key := context.Background(), "test-key"
	${block('go')}
	if err != nil {
		panic(err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	_, span := provider.Tracer("page").Start(ctx, "${name}")
	span.End()
	if err := provider.Shutdown(ctx); err != nil {
		panic(err)
	}
}`,
    )
    return ['go', ['run', '-mod=readonly', '.'], cwd]
  },
  async rust(name) {
    const cwd = join(dir, 'rust')
    mkdirSync(join(cwd, 'src'), { recursive: true })
    for (const file of ['Cargo.toml', 'Cargo.lock'])
      writeFileSync(
        join(cwd, file),
        readFileSync(join(here, 'rust', file), 'utf8').replace('name = "client"', 'name = "page"'),
      )
    writeFileSync(
      join(cwd, 'src/main.rs'),
      `use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let _entered = runtime.enter();
    ${block('rust')}
    provider.tracer("page").start("${name}").end();
    provider.shutdown_with_timeout(std::time::Duration::from_secs(60))?;
    Ok(())
}`,
    )
    return ['cargo', ['run', '--quiet', '--locked', '--target-dir', cargoFolder], cwd]
  },
}

it('the page about OTLP has no block of another language', () => {
  const languages = [...section.matchAll(/^```(\w+)$/gm)].map(([, language]) => language)
  expect(languages.sort()).toEqual(['sh', ...Object.keys(programs)].sort())
})

it.each(Object.entries(programs))('the lines for %s send a span', async (language, programOf) => {
  const name = `page-${language}`
  const [program, args, cwd] = await programOf(name)
  const env = { ...processEnv(), ...variables(), OTEL_METRICS_EXPORTER: 'none' }
  await run(program, args, { cwd, env })
  const calls = await server.list<{ op_name: string }>('/calls/stream_query', { project_id: 'acme/demo' })
  expect(calls.map(({ op_name }) => op_name)).toContainEqual(expect.stringContaining(`/op/${name}:`))
})
