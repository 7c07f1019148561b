export const pagePackages: readonly string[]
export const sourceFolder: string
export const distFolder: string
export function sourceDigest(root: string): string | undefined
export function needsBuild(root: string): boolean
export function pageInstall(locked: Record<string, { version?: string }>): { names: string[]; paths: Set<string> }
