import { describe, expect, test } from 'vitest'
import { compressionOf } from '../../../../../src/run/loop/open-pipeline.js'
import { type Compressing, compressingBy } from '../../../../../src/route/sender/layers/compressing.js'

/** A route of a number of megabytes per second, in each way. `busy`: share of its time that a request spends in the compressor. */
interface Route {
  readonly gzip: number
  readonly none: number
  readonly busy: number
}

/** Plays so many answers, each for a body of 5 MB. Returns how many requests were compressed. */
function play(route: Compressing, clock: { at: number }, { gzip, none, busy }: Route, answers: number): number {
  let compressed = 0
  for (let answer = 0; answer < answers; answer += 1) {
    const wasCompressed = route.isNext()
    if (wasCompressed) compressed += 1
    const ms = (5 / (wasCompressed ? gzip : none)) * 1000
    clock.at += ms
    route.answered({ bytes: 5_000_000, wasCompressed, ms, compressingMs: wasCompressed ? busy * ms : 0 })
  }
  return compressed
}

function measured() {
  const clock = { at: 0 }
  return { clock, route: compressingBy('measured', { now: () => clock.at }) }
}

describe('a route on which bytes cost only time is measured', () => {
  test('a slow one: the compressor holds nothing up, and nothing else is tried', () => {
    const { clock, route } = measured()
    expect(play(route, clock, { gzip: 40, none: 12, busy: 0.2 }, 200)).toBe(200)
    expect(route.chosen).toEqual({ used: 'gzip', why: 'on this route, compression holds nothing up: 40.0 MB/s' })
  })

  test('one that is faster than the compressor: after the first seconds, requests are sent as they are', () => {
    const { clock, route } = measured()
    const compressed = play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 1000)
    expect(route.chosen).toEqual({
      used: 'none',
      why: 'this route is faster than the compressor: 200 MB/s with gzip, 400 MB/s without',
    })
    // The first answer starts the clock, and the next two seconds are measured.
    expect(compressed).toBe(1 + 80)
  })

  test('one that is no faster without compression: compressed again', () => {
    const { clock, route } = measured()
    const answers = 1000
    const compressed = play(route, clock, { gzip: 200, none: 205, busy: 0.9 }, answers)
    expect(route.chosen).toEqual({
      used: 'gzip',
      why: 'without it, this route is not faster: 200 MB/s with gzip, 205 MB/s without',
    })
    expect(answers - compressed).toBe(1 + 82)
  })

  test('a try that goes badly ends after six seconds', () => {
    const { clock, route } = measured()
    play(route, clock, { gzip: 200, none: 1, busy: 0.9 }, 1000)
    expect(route.chosen?.why).toBe('without it, this route is not faster: 200 MB/s with gzip, 1.0 MB/s without')
  })

  test('answers to requests of the phase before do not count', () => {
    const { clock, route } = measured()
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 81)
    expect(route.isNext()).toBe(false)
    for (let late = 0; late < 50; late += 1)
      route.answered({ bytes: 5_000_000, wasCompressed: true, ms: 1, compressingMs: 1 })
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 200)
    expect(route.chosen?.why).toBe('this route is faster than the compressor: 200 MB/s with gzip, 400 MB/s without')
  })

  test('a load that ends before is compressed', () => {
    const { clock, route } = measured()
    expect(play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 20)).toBe(20)
    expect(route.chosen).toEqual({ used: 'gzip', why: 'the load ended before the route was measured' })
  })

  test('a load that ends in the trial says so', () => {
    const { clock, route } = measured()
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 90)
    expect(route.chosen).toEqual({ used: 'none', why: 'the load ended while Sluice tried this route without it' })
  })

  test('a trial without an answer ends after twelve seconds', () => {
    const { clock, route } = measured()
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 81)
    clock.at += 12_001
    expect(route.isNext()).toBe(true)
    expect(route.chosen?.why).toBe('requests without it were not answered')
  })

  test('an input that pauses says nothing of the route', () => {
    const { clock, route } = measured()
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 5)
    clock.at += 20_000
    play(route, clock, { gzip: 200, none: 400, busy: 0.9 }, 1000)
    expect(route.chosen?.why).toBe('this route is faster than the compressor: 200 MB/s with gzip, 400 MB/s without')
  })
})

describe('--compress', () => {
  const remote = new URL('https://cluster.example:9243')
  const local = new URL('http://localhost:9200')
  const proxyOn = (host: string) => ({ host }) as NonNullable<Parameters<typeof compressionOf>[1]['proxy']>
  const limits = { rates: [{ countsBytes: true } as never] }
  const slow = { rates: [{ countsBytes: false } as never] }

  test.each([
    [
      'auto',
      { url: remote, proxy: proxyOn('proxy.example') },
      {},
      { isGzip: true, why: 'a proxy may count the bytes' },
    ],
    // It may lead to the one that counts.
    ['auto', { url: remote, proxy: proxyOn('127.0.0.1') }, {}, { isGzip: true, why: 'a proxy may count the bytes' }],
    ['auto', { url: local, proxy: proxyOn('proxy.example') }, {}, { isGzip: true, why: 'a proxy may count the bytes' }],
    ['auto', { url: local, proxy: undefined }, {}, { isGzip: false }],
    ['auto', { url: local, proxy: proxyOn('127.0.0.1') }, {}, { isGzip: false }],
    ['auto', { url: local, proxy: undefined }, limits, { isGzip: true, why: 'the load has a limit of bytes' }],
    ['auto', { url: remote, proxy: undefined }, limits, { isGzip: true, why: 'the load has a limit of bytes' }],
    ['auto', { url: remote, proxy: undefined }, {}, 'measured'],
    ['auto', { url: local, proxy: undefined }, slow, { isGzip: false }],
    ['gzip', { url: local, proxy: undefined }, {}, { isGzip: true }],
    ['none', { url: remote, proxy: proxyOn('proxy.example') }, limits, { isGzip: false }],
  ] as const)('%s, %o', (compress, way, sending, choice) => {
    expect(compressionOf(compress, way, sending)).toEqual(choice)
  })
})
