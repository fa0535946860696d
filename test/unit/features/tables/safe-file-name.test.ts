import { posix, win32 } from 'node:path'
import { expect, test } from 'vitest'
import { safeFileName } from '../../../../src/features/tables/safe-file-name.js'

test.each([
  ['report.pdf', 'report.pdf'],
  ['Über den Wolken.pdf', 'Über den Wolken.pdf'],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['C:\\Windows\\x.exe', 'C__Windows_x.exe'],
  ['..', 'file'],
  ['', 'file'],
  ['a\u0000b\nc', 'a_b_c'],
  ['gpj.\u202Eexe', 'gpj._exe'],
  ['half \uD83D', 'half _'],
  ['trailing. ', 'trailing'],
])('%j becomes %j', (given, expected) => expect(safeFileName(given)).toBe(expected))

test('a long name keeps its extension, and fits into a file system', () => {
  for (const letter of ['x', 'ü', '🔔']) {
    const name = safeFileName(`${letter.repeat(400)}.tar.gz`)
    expect(name).toMatch(/\.gz$/)
    expect(Buffer.byteLength(`${'0'.repeat(32)}-${name}.part`)).toBeLessThan(255)
  }
  expect(Buffer.byteLength(safeFileName(`a.${'x'.repeat(400)}`))).toBeLessThanOrEqual(180)
})

test('no name leads to another folder', () => {
  const parts = ['..', '.', '/', '\\', ':', '\u0000', '~', 'a', ' ', '\uFF0F', '%2e%2e%2f']
  for (const a of parts)
    for (const b of parts)
      for (const c of parts) {
        const path = `id-${safeFileName(a + b + c)}`
        expect(posix.basename(path)).toBe(path)
        expect(win32.basename(path)).toBe(path)
      }
})
