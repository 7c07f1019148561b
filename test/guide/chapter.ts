// Runs a chapter of docs/guide.md: its commands in one shell, what each block prints compared with the block below it.
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { onFixedPorts } from '../fixtures/fixed-ports.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const sources = fileURLToPath(new URL('../..', import.meta.url))
const separator = '--- end of block ---'

type Block = { commands: string; expected: string | undefined }

/** The blocks of a chapter, those that hold for all chapters first. @throws when there is no such chapter */
function blocksOf(guide: string, title: string): { setup: string; blocks: Block[] } {
  const sections = guide.split(/^## /m)
  const chapter = sections.find((section) => section.startsWith(`${title}\n`))
  if (chapter === undefined) throw new Error(`The guide has no chapter ${title}`)
  const fenced = (text: string, kind: string) =>
    [...text.matchAll(/^```(\S+(?: setup)?)\n(.*?)^```$/gms)].filter(([, name]) => name?.startsWith(kind))
  const [setup] = fenced(sections[0] as string, 'sh setup')
  const blocks: Block[] = []
  for (const [, kind, body = ''] of fenced(chapter, '')) {
    const last = blocks.at(-1)
    if (kind === 'sh') blocks.push({ commands: body, expected: undefined })
    else if (kind === 'text' && last !== undefined) last.expected = body
  }
  return { setup: setup?.[2] ?? '', blocks }
}

/** A text in which `…` stands for anything, also for some lines, as a pattern. */
const patternOf = (expected: string): RegExp =>
  new RegExp(
    `^${expected
      .trim()
      .split('…')
      .map((text) => RegExp.escape(text))
      .join('.*?')}$`,
    's',
  )

function run(script: string, dir: string, env: Record<string, string | undefined>): Promise<string> {
  const child = spawn('bash', ['-c', script], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [printed, complaints] = ['', '']
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  return new Promise((resolve, reject) =>
    child.once('exit', (code) =>
      code === 0 ? resolve(printed) : reject(new Error(`the chapter ended with ${code}: ${printed}${complaints}`)),
    ),
  )
}

/** Ends the server of a chapter; the folder goes with it. */
function cleanUp(dir: string): void {
  const pid = join(dir, 'server.pid')
  try {
    if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL')
  } catch {
    // It has ended.
  }
  rmSync(dir, { recursive: true, force: true })
}

export async function runChapter(title: string): Promise<void> {
  const { setup, blocks } = blocksOf(readFileSync(join(sources, 'docs/guide.md'), 'utf8'), title)
  expect(blocks.length, 'blocks of commands').toBeGreaterThan(0)
  const script = [setup, ...blocks.map(({ commands }) => `${commands}\necho; echo '${separator}'`)].join('\n')
  // The commands name the port themselves.
  const { printed, serverLog } = await onFixedPorts(1, (port) => runScript(script, port as number))
  const outputs = printed.split(`${separator}\n`).map((text) => text.trim())
  for (const [i, { commands, expected = '…' }] of blocks.entries())
    expect(outputs[i], `${commands}\n${serverLog}`).toMatch(patternOf(expected))
}

/** Runs the commands in a folder of their own. Rejects when another program has the port. */
async function runScript(script: string, port: number): Promise<{ printed: string; serverLog: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-guide-'))
  onTestFinished(() => cleanUp(dir))
  // Tables that are there already: a first start makes them in some seconds.
  await copyMigratedStore(join(dir, '.callhouse'))
  // Script in place of `npx`: runs `callhouse` of a checkout, without a look for newer packages.
  const npx = join(dir, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(sources, 'services/main.ts')}" "$@"\n`)
  chmodSync(npx, 0o755)
  const env = {
    ...processEnv(),
    PATH: [dir, dirname(process.execPath), process.env.PATH].join(delimiter),
    CALLHOUSE_PORT: String(port),
    CALLHOUSE_OTLP_GRPC_PORT: 'off',
    CALLHOUSE_OTLP_HTTP_PORT: 'off',
    SOURCES: sources,
    // However slow the machine is, a read waits for what it must see.
    CALLHOUSE_FRESHNESS_MS: '60000',
  }
  const ran = await run(script, dir, env).then(
    (printed) => ({ printed }),
    (error: Error) => ({ error }),
  )
  const logFile = join(dir, 'server.log')
  const serverLog = existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-3000) : ''
  if (serverLog.includes('is in use by another process')) throw new Error(serverLog)
  if ('error' in ran) throw ran.error
  return { printed: ran.printed, serverLog }
}
