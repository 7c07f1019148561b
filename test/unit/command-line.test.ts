// The command line: words, flags and settings, and what is answered to mistakes.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { settings } from '../../services/app/config.ts'
import { type Command, commandUsage, takes } from '../../services/cli/command.ts'
import { commands } from '../../services/cli/commands.ts'
import { parseArguments } from '../../services/core/process/arguments.ts'
import { quantity } from '../../services/core/quantity.ts'

const types = { port: 'string', json: 'boolean' } as const

describe('arguments', () => {
  it('words stand before, between and after flags', () => {
    const read = parseArguments(['a', '--port', '1', 'b', '--json', 'c', '--port=2', '--', '--port'], types)
    expect(read).toEqual({
      words: ['a', 'b', 'c', '--port'],
      flags: [
        ['port', '1'],
        ['json', 'true'],
        ['port', '2'],
      ],
      faults: [],
    })
  })

  it('a flag that may stand alone takes true and false', () => {
    const read = (...argv: string[]) => {
      const { words, flags } = parseArguments(argv, types)
      return [words, new Map(flags).get('json')]
    }
    expect(read('--json', 'false', 'x')).toEqual([['x'], 'false'])
    expect(read('--json', 'x')).toEqual([['x'], 'true'])
    expect(read('--json=false', 'true')).toEqual([['true'], 'false'])
  })

  it.each([
    [['--prot', '1'], 'Unknown flag --prot;'],
    [['-p'], 'Unknown flag -p;'],
    [['--toString'], 'Unknown flag --toString;'],
    [['--port'], '--port needs a value'],
    [['--port', '--json'], '--port needs a value'],
  ])('%j is a fault', (argv, fault) => {
    expect(parseArguments(argv, types).faults).toEqual([expect.stringContaining(fault)])
  })

  it('a value may begin with dashes behind =', () => {
    expect(parseArguments(['--port=--1'], types)).toMatchObject({ flags: [['port', '--1']], faults: [] })
  })
})

describe('commands', () => {
  it('have names and flags of their own', () => {
    const names = commands.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    const ofSettings = new Set(settings.map(({ flag }) => flag))
    for (const { flags = {} } of commands)
      for (const flag of Object.keys(flags)) expect(ofSettings).not.toContain(`--${flag}`)
  })

  it('take as many words as their usage names', () => {
    const command = (words: string): Command => ({ name: 'x', words, help: '', run: async () => {} })
    const counts = (words: string) => [0, 1, 2, 3, 9].filter((count) => takes(command(words), count))
    expect(counts('')).toEqual([0])
    expect(counts('<a>')).toEqual([1])
    expect(counts('<a b> [c]')).toEqual([1, 2])
    expect(counts('<a> [b] [c ...]')).toEqual([1, 2, 3, 9])
    expect(commandUsage({ ...command('<a>'), flags: { json: '', to: '<there>' } })).toBe(
      'x <a> [--json] [--to <there>]',
    )
  })
})

describe('what commands answer', () => {
  const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))
  const run = (...argv: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      execFile(process.execPath, [main, ...argv], (error, out, err) =>
        done({ code: Number(error?.code ?? 0), out, err }),
      )
    })

  it('answer mistakes with their usage, and code 2', async () => {
    const answers = await Promise.all([
      run('serv'),
      run('keys'),
      run('export', 'one', 'two'),
      run('serve', 'extra'),
      run('keys', 'create', '--help'),
      run('help'),
    ])
    expect(answers.map(({ code }) => code)).toEqual([2, 2, 2, 2, 0, 0])
    const [unknown, keys, many, extra, asked, all] = answers
    expect(unknown.err).toBe("callhouse: Unknown command serv; 'callhouse help' lists all\n")
    expect(keys.err).toContain('callhouse keys create <user> [role]')
    expect(many.err).toContain('callhouse export <folder>')
    expect(extra.err).toContain('callhouse serve')
    expect(asked.out).toContain('callhouse keys revoke <id>')
    for (const command of commands) expect(all.out).toContain(`callhouse ${commandUsage(command)}`)
  })

  it('tell of a role that a user gets with a key, and of none that is held', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-command-line-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const create = (role: string, scope: string) => run('keys', 'create', 'bob', role, scope, '--data-dir', dataDir)
    const told = [await create('writer', 'red/app'), await create('reader', 'red/app'), await create('owner', '*')]
    expect(told.map(({ err }) => err)).toEqual([
      'bob is writer of red/app from now on\n',
      '',
      'bob is owner of * from now on\n',
    ])
    for (const { out } of told) expect(out).toMatch(/^key \w+ \(shown once\): chk_\w+\n$/)
  })
})

it('numbers have the noun that belongs to them', () => {
  expect([0, 1, 2, 21, 1_000].map((n) => quantity(n, 'call is', 'calls are'))).toEqual([
    '0 calls are',
    '1 call is',
    '2 calls are',
    '21 calls are',
    '1000 calls are',
  ])
  expect([quantity(1, 'row'), quantity(3, 'row')]).toEqual(['1 row', '3 rows'])
})

it('no message of the command line counts with a plural alone', () => {
  const folders = ['services/cli', 'services/operations']
  const nouns = 'calls|rows|items|events|chains|files|tables|keys|users|projects|records|faults|secrets|hours|days'
  const fixed = new RegExp(`\\$\\{[^}]+\\} (?:${nouns})\\b(?!/s)`)
  const lines = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .filter((line) => fixed.test(line)),
  )
  expect(lines).toEqual([])
})
