// Checks the addresses that a project may name for the server to call: public ones only, unless private networks are
// allowed.
import { BlockList, isIP } from 'node:net'

type Net = readonly [net: string, bits: number]

function listOf(nets: readonly Net[]): BlockList {
  const list = new BlockList()
  for (const [net, bits] of nets) list.addSubnet(net, bits, net.includes(':') ? 'ipv6' : 'ipv4')
  return list
}

/** The only unicast addresses that IANA has given out: whatever translates, maps or tunnels to IPv4 lies elsewhere. */
const unicast6 = listOf([['2000::', 3]])

/** Azure's own services answer to every virtual machine at it, though it looks public. */
const azureHost: Net = ['168.63.129.16', 32]

/**
 * Ranges of IPv4 and of `unicast6` that are not reachable from everywhere, or that the local network answers. Source:
 * IANA special-purpose address registries, IPv4 and IPv6 (RFC 6890 and its updates).
 */
const closed = listOf([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  azureHost,
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16],
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['2001::', 23], // Teredo, benchmarks, ORCHID
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20],
])

/**
 * Addresses where clouds tell a machine its own credentials: closed even where private networks are open, like their
 * names.
 */
const metadata = listOf([
  ['169.254.0.0', 16],
  azureHost,
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
])

/** True for an address in textual form that is reachable from everywhere. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 6) return unicast6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
  return version === 4 && !closed.check(address, 'ipv4')
}

/** Whether the server connects to an address for a project. */
export function isOpenAddress(address: string, { allowPrivate }: { allowPrivate: boolean }): boolean {
  if (!allowPrivate) return isPublicAddress(address)
  const version = isIP(address)
  return version !== 0 && !metadata.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

const metadataNames = /(?:^|\.)(?:metadata\.google\.internal|metadata\.goog|metadata\.internal|metadata\.azure\.com)$/
const localNames = /^localhost|\.localhost$|^ip6-/

/**
 * The reason why a base address is refused, null when it is fine. Names are not resolved here: whoever connects checks
 * the address that the name resolves to. Source: inference and training specification, URL guard.
 */
export function baseUrlFault(text: string, options: { allowPrivate: boolean }): string | null {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https address'
  if (text.includes('?') || text.includes('#')) return 'must have no query and no fragment'
  // The URL parser turns every notation of an IPv4 address into the dotted one.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
  if (host === '') return 'must have a host'
  if (metadataNames.test(host)) return 'must not name a metadata service'
  if (isIP(host) !== 0 && !isOpenAddress(host, options))
    return options.allowPrivate ? 'must not name a metadata service' : 'must be a public address'
  if (!options.allowPrivate && localNames.test(host)) return 'must be a public address'
  return null
}
