// Headers of every answer: what a browser must not make of it. A route that is a page or a file says more.

const policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"

const always: readonly (readonly [name: string, value: string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Content-Security-Policy', policy],
]

/** @param isSecure people reach the server over TLS: browsers remember it for a year */
export const securityHeaders = (isSecure: boolean): readonly (readonly [name: string, value: string])[] =>
  isSecure ? [...always, ['Strict-Transport-Security', 'max-age=31536000']] : always

/** Bytes that somebody has uploaded: kept by their ETag, and never shown as a page of ours. */
export const contentHeaders: Record<string, string> = {
  'Cache-Control': 'private, no-cache',
  'Content-Disposition': 'attachment',
  'Content-Security-Policy': `${policy}; sandbox`,
}
