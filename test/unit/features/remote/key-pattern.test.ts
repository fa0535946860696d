import { describe, expect, test } from 'vitest'
import { keyPattern } from '../../../../src/features/remote/key-pattern.js'

const cases: readonly [pattern: string, prefix: string, matched: readonly string[], others: readonly string[]][] = [
  ['logs/*.gz', 'logs/', ['logs/a.gz', 'logs/.gz'], ['logs/a/b.gz', 'logs/a.gz2', 'xlogs/a.gz']],
  ['logs/**/*.gz', 'logs/', ['logs/a.gz', 'logs/a/b/c.gz'], ['logs/a.txt', 'logsx/a.gz']],
  ['logs/**', 'logs/', ['logs/a', 'logs/a/b'], ['log']],
  ['a?c', 'a', ['abc', 'a😀c'], ['ac', 'a/c']],
  ['part-[0-3].nd', 'part-', ['part-0.nd', 'part-3.nd'], ['part-4.nd', 'part-10.nd']],
  ['part-[!0-3]', 'part-', ['part-4', 'part-x'], ['part-0', 'part-/']],
  ['a.{gz,zst}', 'a.', ['a.gz', 'a.zst'], ['a.bz2', 'axgz']],
  ['a+(b)$^|-.*', 'a+(b)$^|-.', ['a+(b)$^|-.x'], ['aab']],
  [String.raw`a\*b*`, 'a', ['a*b', 'a*bc'], ['axb']],
  ['a/*', 'a/', ['a/b'], ['a/sluice-dead-letters-1.ndjson']],
  ['a/sluice-dead-letters-*', 'a/sluice-dead-letters-', ['a/sluice-dead-letters-1.ndjson'], ['a/b']],
  ['a/***/b', 'a/', ['a/b', 'a/x/y/b'], ['ab', 'a/xb']],
  ['{a,b{c,d}}*/x', '', ['a/x', 'bc1/x', 'bd/x'], ['b/x', 'a/1/x', 'c/x']],
  ['a{}b?', 'a', ['abc'], ['ab', 'a{}bc']],
  ['😀[😀-😂]*', '😀', ['😀😁', '😀😂x'], ['😀x']],
  ['a[b*', 'a', ['a[b', 'a[bc'], ['ab']],
]

describe('the pattern of keys', () => {
  test.each(cases)('%s', (pattern, prefix, matched, others) => {
    const made = keyPattern(pattern)
    expect(made?.prefix).toBe(prefix)
    expect([...matched, ...others].filter(key => made?.matches(key))).toEqual(matched)
  })

  test('is none for a key without wildcards', () => {
    expect(keyPattern('logs/a+b (1).gz')).toBeUndefined()
  })
})

test('a range that ends before it begins, and very many stars', () => {
  const odd = keyPattern('b/[z-a]x')
  expect(['b/zx', 'b/-x', 'b/ax', 'b/mx'].filter(key => odd?.matches(key))).toEqual(['b/zx', 'b/-x', 'b/ax'])
  const stars = keyPattern(`b/${'*'.repeat(30)}y`)
  expect(['b/cy', `b/${'c'.repeat(60)}`].filter(key => stars?.matches(key))).toEqual(['b/cy'])
})

test('a key that somebody made for that takes no time', () => {
  const many = keyPattern('b/*-*-*-*-{*-,*}*-*.gz')
  const dashes = '-'.repeat(1000)
  expect([`b/${dashes}.gz`, `b/${dashes}.gx`, `b/${dashes}/.gz`].filter(key => many?.matches(key))).toEqual([
    `b/${dashes}.gz`,
  ])
})
