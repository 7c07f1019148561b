// Addresses that no project may lead the server to, and their neighbours that it may.
import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { baseUrlFault, isOpenAddress, isPublicAddress } from '../../services/core/http/public-url.ts'
import { createGuardedLookup, ForbiddenAddress } from '../../services/inference/url-guard.ts'

describe('an address', () => {
  // First and last of each range of the IANA registries, of what is deprecated, and of what clouds keep for themselves.
  it.each(
    `0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255
    168.63.129.16 169.254.0.0 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.1
    192.31.196.1 192.52.193.1 192.88.99.0 192.88.99.1 192.88.99.255 192.168.0.1 192.168.255.255 192.175.48.1
    198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:0:8.8.8.8
    64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::10.0.0.1 100::1 100:0:0:1::1 200::1
    2001::1 2001:0:4136:e378:8000:63bf:f5ff:fffe 2001:2::1 2001:3::1 2001:10::1 2001:20::1 2001:30::1
    2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::1 2001:db8:ffff::1 2002::1 2002:7f00:1::1 2002:a00:1::1
    2002:c0a8:101::1 2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254
    fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 feff::1 ff02::1 ffff::1`.split(/\s+/),
  )('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
    const host = address.includes(':') ? `[${address}]` : address
    expect(baseUrlFault(`http://${host}/v1`, { allowPrivate: false })).not.toBeNull()
  })

  it.each(
    `1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0
    192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.1 203.0.114.1 223.255.255.255
    2000::1 2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1 2600:: 2606:4700:4700::1111
    2620:4f:7fff::1 2620:4f:8001::1 2a00:1450:4001::1 3ffe::1`.split(/\s+/),
  )('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
    const host = address.includes(':') ? `[${address}]` : address
    expect(baseUrlFault(`http://${host}/v1`, { allowPrivate: false })).toBeNull()
  })

  it.each('localhost 1.2.3 127.0.0.1.example 08.8.8.8 1.2.3.4.5 ::g'.split(' '))('%s is none', (text) => {
    expect([isPublicAddress(text), isOpenAddress(text, { allowPrivate: true })]).toEqual([false, false])
  })

  it('of a metadata service is closed even where private networks are open', () => {
    const open = (address: string) => isOpenAddress(address, { allowPrivate: true })
    const all = '169.254.169.254 ::ffff:169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 fd00:ec2::254'
    for (const address of all.split(' ')) expect(open(address), address).toBe(false)
    for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fd00::1', '8.8.8.8']) expect(open(address)).toBe(true)
    expect(baseUrlFault('http://2852039166/v1', { allowPrivate: true })).toBe('must not name a metadata service')
  })
})

describe('a name', () => {
  const look = (addresses: string[], allowPrivate = false) =>
    new Promise((resolve) => {
      const found: LookupAddress[] = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      const lookup = createGuardedLookup({ allowPrivate }, (_name, _options, done) => done(null, found))
      lookup('name.example', { all: true }, (error, address) => resolve(error ?? address))
    })

  it.each(['168.63.129.16', 'fec0::1', '64:ff9b::a00:1', '2002:a00:1::', '192.88.99.1'])(
    'that leads to %s, or there too, is not connected to',
    async (address) => {
      expect(await look([address])).toBeInstanceOf(ForbiddenAddress)
      expect(await look(['8.8.8.8', address])).toBeInstanceOf(ForbiddenAddress)
    },
  )

  it('may lead into a private network where that is allowed, but to no metadata service', async () => {
    expect(await look(['10.0.0.1'], true)).toHaveLength(1)
    expect(await look(['10.0.0.1', '169.254.169.254'], true)).toBeInstanceOf(ForbiddenAddress)
  })
})
