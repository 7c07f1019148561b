// The program: runs the command of its arguments, and prints why it could not.
import { UsageError } from './cli/command.ts'
import { run } from './cli/run.ts'

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is in use by another process; --port chooses another one`
  if (code === 'EACCES' && port !== undefined)
    return `this user may not listen on port ${port}; --port chooses another one`
  return error.message
}

// The reader of the output may leave early (`| head`); nobody is left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`callhouse: ${reasonOf(error)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
})
