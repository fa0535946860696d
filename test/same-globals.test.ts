import dns from 'node:dns'
import fs from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { changesBetween, globalsNow } from './support/isolation/globals.js'

// What the guard of every test file finds, played by changes of each kind.
const undo: (() => void)[] = []
afterEach(() => undo.splice(0).forEach(one => one()))

const stand = {
  now: Date.now,
  parse: JSON.parse,
  folder: process.cwd(),
  umask: process.umask(),
  warn: console.warn,
  existsSync: fs.existsSync,
  keys: Object.keys,
  depth: Error.stackTraceLimit,
}

const sins: readonly (readonly [string, string, () => void, () => void])[] = [
  [
    'an environment variable',
    'process.env.SLUICE_SIN is new',
    () => (process.env['SLUICE_SIN'] = '1'),
    () => delete process.env['SLUICE_SIN'],
  ],
  [
    'a global',
    'globalThis.sin is new',
    () => Object.assign(globalThis, { sin: 1 }),
    () => Reflect.deleteProperty(globalThis, 'sin'),
  ],
  ['a held clock', 'Date.now has changed', () => (Date.now = () => 0), () => (Date.now = stand.now)],
  ['a parser', 'JSON.parse has changed', () => (JSON.parse = () => 0), () => (JSON.parse = stand.parse)],
  ['a console', 'console.warn has changed', () => (console.warn = () => undefined), () => (console.warn = stand.warn)],
  ['another folder', 'working folder has changed', () => process.chdir('/'), () => process.chdir(stand.folder)],
  ['a mask of new files', 'umask has changed', () => process.umask(0o777), () => process.umask(stand.umask)],
  ['an exit code', 'exit code has changed', () => (process.exitCode = 1), () => (process.exitCode = undefined)],
  [
    'a method of all arrays',
    'Array.prototype.sin is new',
    () => Object.assign(Array.prototype, { sin: 1 }),
    () => Reflect.deleteProperty(Array.prototype, 'sin'),
  ],
  [
    'another order of addresses',
    'order of addresses has changed',
    () => dns.setDefaultResultOrder('ipv6first'),
    () => dns.setDefaultResultOrder('verbatim'),
  ],
  [
    'a patched file system',
    'fs.existsSync has changed',
    () => (fs.existsSync = () => true),
    () => (fs.existsSync = stand.existsSync),
  ],
  ['a static method', 'Object.keys has changed', () => (Object.keys = () => []), () => (Object.keys = stand.keys)],
  [
    'a deeper stack',
    'Error.stackTraceLimit has changed',
    () => (Error.stackTraceLimit = 99),
    () => (Error.stackTraceLimit = stand.depth),
  ],
  [
    'a listener of the process',
    'listeners of SIGUSR2 is new',
    () => process.on('SIGUSR2', ignore),
    () => process.off('SIGUSR2', ignore),
  ],
]
function ignore(): void {}

test.each(sins)('a file that leaves %s is caught', (_, change, sin, atone) => {
  const before = globalsNow()
  undo.push(atone)
  sin()
  expect(changesBetween(before, globalsNow())).toEqual([change])
})

test('a file that leaves nothing passes', () => {
  expect(changesBetween(globalsNow(), globalsNow())).toEqual([])
})

test('a variable that is gone is a change too', () => {
  process.env['SLUICE_SIN'] = '1'
  const before = globalsNow()
  delete process.env['SLUICE_SIN']
  expect(changesBetween(before, globalsNow())).toEqual(['process.env.SLUICE_SIN is gone'])
})
