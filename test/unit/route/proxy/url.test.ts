import { describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'

const origin = 'STATIC_PROXY_URL'

describe('a proxy URL', () => {
  it.each([
    [
      'http://user:pw@eu-static-01.example.com:9293',
      { scheme: 'http', host: 'eu-static-01.example.com', port: 9293, username: 'user', password: 'pw' },
    ],
    [
      'https://user:pw@Shield.Example.com:9294/',
      { scheme: 'https', host: 'shield.example.com', port: 9294, username: 'user', password: 'pw' },
    ],
    [
      'http://user:p%40ss%3A%2F%23%3F%25%C3%A9@h:80',
      { scheme: 'http', host: 'h', port: 80, username: 'user', password: 'p@ss:/#?%é' },
    ],
    ['http://us%40er:a:b@h:80', { scheme: 'http', host: 'h', port: 80, username: 'us@er', password: 'a:b' }],
    ['http://token@h:80', { scheme: 'http', host: 'h', port: 80, username: 'token' }],
    ['http://token:@h:80', { scheme: 'http', host: 'h', port: 80, username: 'token', password: '' }],
    ['http://@h:80', { scheme: 'http', host: 'h', port: 80 }],
    ['http://localhost:8080', { scheme: 'http', host: 'localhost', port: 8080 }],
    ['socks5://u:p@127.0.0.1:1080', { scheme: 'socks5', host: '127.0.0.1', port: 1080, username: 'u', password: 'p' }],
    ['socks5h://h:1080', { scheme: 'socks5', host: 'h', port: 1080 }],
    ['socks://h:1080', { scheme: 'socks5', host: 'h', port: 1080 }],
    ['socks5s://h:1081', { scheme: 'socks5s', host: 'h', port: 1081 }],
    ['SOCKS5+TLS://h:1081', { scheme: 'socks5s', host: 'h', port: 1081 }],
    ['http://u:p@[::1]:9293', { scheme: 'http', host: '::1', port: 9293, username: 'u', password: 'p' }],
    ['http://bücher.example:80', { scheme: 'http', host: 'xn--bcher-kva.example', port: 80 }],
  ])('%s is read', (text, expected) => {
    const { display, ...read } = parseProxyUrl(text, origin)
    expect(read).toEqual(expected)
    const host = expected.host.includes(':') ? `[${expected.host}]` : expected.host
    expect(display).toBe(`${expected.scheme}://${host}:${expected.port}`)
  })

  const long = 'x'.repeat(256)
  it.each([
    ['', 'is empty'],
    ["'http://u:zq7@h:9293'", 'has quotes around it. Remove the quotes'],
    ['http://u:zq7@h:9293\n', 'whitespace'],
    ['http://u:zq7 zq7@h:9293', 'whitespace'],
    ['http://u:zq7\u0000@h:9293', 'control character'],
    ['u:zq7@h:9293', 'has no scheme'],
    ['http:/u:zq7@h:9293', 'has no scheme'],
    ['//u:zq7@h:9293', 'has no scheme'],
    ['ftp://u:zq7@h:21', 'unknown scheme'],
    ['socks4://u:zq7@h:1080', 'SOCKS4'],
    ['http://u:zq7@zq7@h:9293', 'more than one "@". Write the one in the username or password as %40'],
    ['http://u:zq7#zq7@h:9293', 'unencoded "#" in the username or password. Write it as %23'],
    ['http://u:zq7/zq7@h:9293', 'unencoded "/" in the username or password. Write it as %2F'],
    ['http://u:zq7?zq7@h:9293', 'unencoded "?" in the username or password. Write it as %3F'],
    ['http://u:zq7%zq@h:9293', 'does not begin an escape'],
    ['http://u:zq7%@h:9293', 'does not begin an escape'],
    ['http://u:zq7%ff@h:9293', 'not UTF-8'],
    ['http://u%3Ax:zq7@h:9293', '":" in the username'],
    ['http://u:zq7@h', 'has no port. QuotaGuard uses 9293 for http://'],
    ['https://u:zq7@h', 'has no port. QuotaGuard uses 9294 for https://'],
    ['socks5://u:zq7@h', 'has no port. The usual port for socks5:// is 1080'],
    ['http://u:zq7@h:', 'has no port'],
    ['http://u:zq7@h:0', 'port that is not a number'],
    ['http://u:zq7@h:65536', 'port that is not a number'],
    ['http://u:zq7', 'port that is not a number'],
    ['http://u:zq7:h:9293', 'more than one ":"'],
    ['http://u:zq7@::1:9293', 'more than one ":"'],
    ['http://u:zq7@:9293', 'empty host'],
    ['http://u:zq7@[]:9293', 'empty host'],
    ['http://', 'empty host'],
    ['http:///', 'empty host'],
    ['http:///h:9293', 'empty host'],
    ['http:///u:zq7@h:9293', 'empty host'],
    ['socks5://\\h:1080', 'empty host'],
    ['http:h:9293', 'has no scheme'],
    ['http://u:zq7@[::g]:9293', 'invalid host'],
    ['http://u:zq7@h!:9293', 'invalid host'],
    ['http://u:zq7@[::1', 'invalid host'],
    ['http://u:zq7@h:9293/path', 'a path, a query or a fragment'],
    ['http://u:zq7@h:9293?q', 'a path, a query or a fragment'],
    ['http://u:zq7@h:9293#f', 'a path, a query or a fragment'],
    ['http://u:zq7@h:1080', 'port 1080, which is SOCKS5. Use port 9293, or socks5://'],
    ['https://u:zq7@h:1080', 'port 1080, which is SOCKS5. Use port 9294, or socks5://'],
    ['socks5://u:zq7@h:9293', 'port 9293, which is HTTP. Use port 1080, or http://'],
    ['socks5://u:zq7@h:9294', 'port 9294, which is HTTP over TLS'],
    ['socks5s://u:zq7@h:9293', 'port 9293, which is HTTP'],
    ['https://u:zq7@h:9293', 'port 9293, which is plain HTTP. Use http://, or port 9294'],
    ['http://u:zq7@h:9294', 'port 9294, which expects TLS. Use https://'],
    [`socks5://u:zq7${long}@h:1080`, 'password of more than 255 bytes'],
    [`socks5://zq7${long}:p@h:1080`, 'username of more than 255 bytes'],
  ])('%j is refused: %s', (text, problem) => {
    let error: unknown
    try {
      parseProxyUrl(text, origin)
    } catch (cause) {
      error = cause
    }
    if (!isSluiceError(error)) throw new Error('it was accepted')
    expect(error.code).toBe('PROXY_URL_INVALID')
    expect(error.message).toContain(`the proxy URL from ${origin} `)
    expect(error.message).toContain(problem)
    expect(JSON.stringify(error.failure)).not.toContain('zq7')
  })
})
