#!/usr/bin/env node
// The `callhouse` command of the package.
process.argv.splice(2, 0, 'callhouse')
await import('./bootstrap.mjs')
