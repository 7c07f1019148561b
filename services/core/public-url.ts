// Which addresses a project may name for the server to call: public ones only, unless private networks are allowed.
import { BlockList, isIP } from 'node:net'

const closed = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  closed.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  closed.addSubnet(net, bits, 'ipv6')

/** True for an address in textual form that is reachable from everywhere; IPv4-mapped IPv6 counts as its IPv4 address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  return version !== 0 && !closed.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

const metadataNames = /(?:^|\.)(?:metadata\.google\.internal|metadata\.goog|metadata\.internal|metadata\.azure\.com)$/
const localNames = /^localhost|\.localhost$|^ip6-/

/**
 * Why a base address is refused, null when it is fine. Names are not resolved here: whoever connects checks the address
 * that the name resolves to. Source: inference and training specification, URL guard.
 */
export function baseUrlFault(text: string, options: { allowPrivate: boolean }): string | null {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https address'
  if (text.includes('?') || text.includes('#')) return 'must have no query and no fragment'
  // The URL parser turns every notation of an IPv4 address into the dotted one.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === '') return 'must have a host'
  if (metadataNames.test(host)) return 'must not name a metadata service'
  if (options.allowPrivate) return null
  if (localNames.test(host) || (isIP(host) !== 0 && !isPublicAddress(host))) return 'must be a public address'
  return null
}
