// Types of packages.mjs, which Node 18 has to run as it is.
type Packages = Record<string, { version?: string; dev?: true; devOptional?: true; optional?: true; extraneous?: true }>
export function missingInstall(wanted: Packages, present: Packages | undefined, needsAll: boolean): string[] | undefined
export function onDisk(noted: Packages, root: string): Packages
