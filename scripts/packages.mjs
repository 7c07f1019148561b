// Finds the installation that a command still needs, from npm's notes about its last one. Plain JavaScript, for any
// Node from 18 on.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pageInstall } from './page-stamp.mjs'

/** npm marks what only tests and tools need; what is also an optional part of something else may be there or not. */
const isForRunning = ({ dev, devOptional }) => !dev && !devOptional

/** Packages of other platforms are not installed, and optional in the lock file. */
const isThere = (present, [path, { version, optional, extraneous }]) =>
  present[path] ? present[path].version === version : optional === true || extraneous === true

/** The part of npm's notes that lies below `root`: a note may be another folder's, or older than a later removal. */
export const onDisk = (noted, root) =>
  Object.fromEntries(Object.entries(noted).filter(([path]) => existsSync(join(root, path))))

/**
 * @param wanted `packages` of package-lock.json
 * @param present `packages` of node_modules/.package-lock.json, which has the same form; undefined when nothing is installed
 * @param needsAll whether tests and tools are needed, or only what running needs
 * @returns words for npm, or undefined when all is there
 */
export function missingInstall(wanted, present, needsAll) {
  const entries = Object.entries(wanted).filter(([path]) => path !== '')
  const needed = entries.filter(([, one]) => needsAll || isForRunning(one))
  if (present !== undefined && needed.every((entry) => isThere(present, entry))) return undefined
  // A checkout with tests and tools keeps them when packages change; the packages that build the page are not among
  // them.
  const ofPage = pageInstall(wanted).paths
  const isTool = ([path, { dev }]) => dev && !ofPage.has(path) && present[path]
  const hasAll = needsAll || (present !== undefined && entries.some(isTool))
  const scope = hasAll ? '--include=dev' : '--omit=dev'
  // `ci` begins by removing everything, from under a server that runs; `install` adds and replaces what differs.
  return present === undefined ? ['ci', scope] : ['install', '--no-save', scope]
}
