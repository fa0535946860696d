import { describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { chooseProxy, noProxyEntry } from '../../../../src/route/proxy/choose-proxy.js'

const target = new URL('https://es.cluster.test:9243')
const proxy = { value: 'http://u:pw@static.test:9293', origin: 'STATIC_PROXY_URL' }
const environmentProxy = { value: 'http://u:pw@corporate.test:3128', origin: 'HTTPS_PROXY' }

function codeOf(options: Parameters<typeof chooseProxy>[0]): string {
  try {
    return `chose ${chooseProxy(options).origin}`
  } catch (error) {
    return isSluiceError(error) ? error.code : String(error)
  }
}

describe('the proxy for a target', () => {
  it('is the static one, then the environment’s, then none', () => {
    expect(chooseProxy({ target, proxy, environmentProxy })).toMatchObject({
      proxy: { host: 'static.test' },
      origin: 'STATIC_PROXY_URL',
      notes: [],
    })
    expect(chooseProxy({ target, environmentProxy })).toMatchObject({
      proxy: { host: 'corporate.test' },
      origin: 'HTTPS_PROXY',
    })
    expect(chooseProxy({ target })).toEqual({ origin: 'default', notes: [] })
  })

  it('of the environment is left out where NO_PROXY covers the target, which is noted', () => {
    const chosen = chooseProxy({ target, environmentProxy, noProxy: 'localhost,.cluster.test' })
    expect(chosen).toEqual({
      origin: 'NO_PROXY',
      notes: ['Sluice ignores HTTPS_PROXY, since NO_PROXY (".cluster.test") covers es.cluster.test:9243'],
      unused: 'Sluice ignores HTTPS_PROXY, since NO_PROXY (".cluster.test") covers es.cluster.test:9243',
    })
  })

  it('of the environment need not be readable where NO_PROXY covers the target', () => {
    const broken = { value: 'corporate proxy', origin: 'HTTPS_PROXY' }
    expect(codeOf({ target, environmentProxy: broken, noProxy: 'cluster.test' })).toBe('chose NO_PROXY')
    expect(codeOf({ target, environmentProxy: broken, noProxy: 'other.test' })).toBe('PROXY_URL_INVALID')
    expect(codeOf({ target, proxy: broken, noProxy: 'cluster.test' })).toBe('PROXY_URL_INVALID')
  })

  it('that is static is never left out by NO_PROXY', () => {
    expect(codeOf({ target, proxy, noProxy: '*' })).toBe('PROXY_NOT_USED')
    expect(codeOf({ target, proxy, noProxy: 'other.test' })).toBe('chose STATIC_PROXY_URL')
    expect(codeOf({ target, proxy, noProxy: '*', direct: true })).toBe('chose --direct')
  })

  it('is none with --direct, which is noted where a proxy was given', () => {
    expect(chooseProxy({ target, proxy, direct: true })).toEqual({
      origin: '--direct',
      notes: ['Sluice ignores STATIC_PROXY_URL, because --direct is set'],
    })
    expect(chooseProxy({ target, direct: true })).toEqual({ origin: '--direct', notes: [] })
  })

  it('must be there with --require-proxy', () => {
    expect(codeOf({ target, requireProxy: true })).toBe('PROXY_NOT_USED')
    expect(codeOf({ target, requireProxy: true, direct: true })).toBe('PROXY_NOT_USED')
    expect(codeOf({ target, requireProxy: true, environmentProxy, noProxy: '*' })).toBe('PROXY_NOT_USED')
    expect(codeOf({ target, requireProxy: true, environmentProxy })).toBe('chose HTTPS_PROXY')
  })

  it('is not the target itself', () => {
    expect(codeOf({ target: new URL('http://STATIC.test:9293/'), proxy })).toBe('CLUSTER_URL_IS_PROXY')
    expect(codeOf({ target: new URL('https://static.test:9293'), proxy })).toBe('CLUSTER_URL_IS_PROXY')
    expect(codeOf({ target: new URL('https://static.test:9243'), proxy })).toBe('chose STATIC_PROXY_URL')
  })

  it.each([
    ['https://static.test.:9293', 'http://static.test:9293'],
    ['https://static.test:9293', 'http://STATIC.test.:9293'],
    ['https://static.test', 'https://static.test:443'],
    ['http://static.test', 'http://static.test:80'],
    ['http://[::1]:9293', 'http://[0:0:0:0:0:0:0:1]:9293'],
    ['http://127.0.0.1:9293', 'http://127.1:9293'],
  ])('is not the target itself in other words: %s, %s', (url, value) => {
    expect(codeOf({ target: new URL(url), proxy: { ...proxy, value } })).toBe('CLUSTER_URL_IS_PROXY')
  })

  it.each([
    ['https://static.test', 'http://static.test:80'],
    ['https://es.static.test:9293', 'http://static.test:9293'],
    ['http://[::1]:9293', 'http://[::2]:9293'],
  ])('may stand beside the target: %s, %s', (url, value) => {
    expect(codeOf({ target: new URL(url), proxy: { ...proxy, value } })).toBe('chose STATIC_PROXY_URL')
  })

  it('is named with its origin when it cannot be read, and its secrets are not shown', () => {
    try {
      chooseProxy({ target, proxy: { value: 'http://u:zq7@static.test', origin: '--proxy' } })
      expect.unreachable()
    } catch (error) {
      expect(String(error)).toContain('from --proxy has no port')
      expect(String(error)).not.toContain('zq7')
    }
  })
})

describe('NO_PROXY', () => {
  it.each([
    ['*', 'https://any.test', true],
    ['cluster.test', 'https://cluster.test', true],
    ['cluster.test', 'https://es.cluster.test', true],
    ['.cluster.test', 'https://es.cluster.test', true],
    ['.cluster.test', 'https://cluster.test', true],
    ['*.cluster.test', 'https://es.cluster.test', true],
    ['CLUSTER.test.', 'https://es.Cluster.test', true],
    ['cluster.test', 'https://mycluster.test', false],
    ['cluster.test', 'https://cluster.test.evil', false],
    ['cluster.test:9243', 'https://cluster.test:9243', true],
    ['cluster.test:443', 'https://cluster.test', true],
    ['cluster.test:80', 'http://cluster.test', true],
    ['cluster.test:9200', 'https://cluster.test:9243', false],
    ['a.test, cluster.test', 'https://cluster.test', true],
    ['a.test cluster.test', 'https://cluster.test', true],
    ['10.1.2.3', 'https://10.1.2.3:9243', true],
    ['10.1.2.3:9243', 'https://10.1.2.3:9243', true],
    ['10.1.2.3:443', 'https://10.1.2.3:9243', false],
    ['10.1.2.3', 'https://110.1.2.3', false],
    ['2.3', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/8', 'https://ten.test', false],
    ['10.0.0.0/33', 'https://10.1.2.3', false],
    ['10.0.0.0/', 'https://10.1.2.3', false],
    ['::1', 'https://[::1]:9243', true],
    ['[::1]', 'https://[::1]:9243', true],
    ['[::1]:9243', 'https://[::1]:9243', true],
    ['[::1]:443', 'https://[::1]:9243', false],
    ['0:0:0:0:0:0:0:1', 'https://[::1]', true],
    ['fd00::/8', 'https://[fd12::1]', true],
    ['fd00::/8', 'https://[fe80::1]', false],
    ['10.1.2.3', 'https://[::ffff:10.1.2.3]', true],
    ['', 'https://cluster.test', false],
    [' , ,', 'https://cluster.test', false],
    ['.', 'https://cluster.test', false],
  ])('%j, for %s: %s', (list, url, covered) => {
    expect(noProxyEntry(list, new URL(url)) !== undefined).toBe(covered)
  })
})
