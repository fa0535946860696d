import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type Block, countAddresses, covers, parseSource, reservedFor } from '../../../../src/programs/filter/cidr.js'
import { seeded } from '../../../support/random/seeded.js'

function block(source: string): Block {
  const read = parseSource(source)
  if ('problem' in read) throw new Error(`${source} ${read.problem}`)
  return read
}

describe('a source', () => {
  test.each([
    ['203.0.113.7', { first: 0xcb_00_71_07, bits: 32 }],
    ['203.0.113.7/32', { first: 0xcb_00_71_07, bits: 32 }],
    ['203.0.113.7/24', { first: 0xcb_00_71_00, bits: 24 }],
    ['255.255.255.255', { first: 0xff_ff_ff_ff, bits: 32 }],
    ['10.200.0.1/1', { first: 0, bits: 1 }],
    ['0.0.0.0/0', { first: 0, bits: 0 }],
  ])('%s is a block', (source, expected) => {
    expect(parseSource(source)).toEqual(expected)
  })

  test.each([
    ['proxy.example.com', 'is a name. IP filters accept addresses, not DNS names'],
    ['example.com/32', 'is a name. IP filters accept addresses, not DNS names'],
    ['2001:db8::1', 'is an IPv6 address. IP filters accept only IPv4 addresses'],
    ['2001:db8::/32', 'is an IPv6 address. IP filters accept only IPv4 addresses'],
    ['::ffff:203.0.113.7', 'is an IPv6 address. IP filters accept only IPv4 addresses'],
    ['203.0.113', 'is not an IPv4 address'],
    ['203.0.113.07', 'is not an IPv4 address'],
    ['203.0.113.256', 'is not an IPv4 address'],
    ['', 'is not an IPv4 address'],
    ['203.0.113.7/33', 'has no prefix from /0 to /32'],
    ['203.0.113.7/', 'has no prefix from /0 to /32'],
    ['203.0.113.7/8/8', 'has no prefix from /0 to /32'],
    ['203.0.113.7/+8', 'has no prefix from /0 to /32'],
  ])('%j %s', (source, problem) => {
    expect(parseSource(source)).toEqual({ problem })
  })
})

test('a block covers what Node’s own list of blocks says', () => {
  const random = seeded(4711)
  const address = () => Array.from({ length: 4 }, () => random.below(256)).join('.')
  let covered = 0
  for (let round = 0; round < 500; round++) {
    const [source, bits] = [address(), random.below(33)]
    const list = new BlockList()
    list.addSubnet(source, bits, 'ipv4')
    // One near by, and one anywhere.
    for (const asked of [source.replace(/\d+$/, String(random.below(256))), address()]) {
      const expected = list.check(asked)
      expect([source, bits, asked, covers(block(`${source}/${bits}`), asked)]).toEqual([source, bits, asked, expected])
      if (expected) covered++
    }
  }
  expect(covered).toBeGreaterThan(250)
})

test.each([
  [[], 0],
  [['203.0.113.7/32', '203.0.113.7'], 1],
  [['203.0.113.0/24', '203.0.113.128/25', '203.0.114.0/24'], 512],
  [['128.0.0.0/1', '0.0.0.0/1'], 2 ** 32],
  [['0.0.0.0/0', '10.0.0.0/8'], 2 ** 32],
])('%j hold %d addresses', (sources, count) => {
  expect(countAddresses(sources.map(block))).toBe(count)
})

test.each([
  ['10.1.2.3', 'private'],
  ['172.16.0.0/12', 'private'],
  ['172.32.0.1', undefined],
  ['192.168.0.0/15', undefined],
  ['100.64.0.1', 'carrier-internal'],
  ['127.0.0.2', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['203.0.113.7', 'documentation'],
  ['239.1.1.1', 'multicast'],
  ['52.1.2.3', undefined],
  ['0.0.0.0/0', undefined],
])('%s is kept for: %s', (source, use) => {
  expect(reservedFor(block(source))).toBe(use)
})
