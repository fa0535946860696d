import { expect, test } from 'vitest'
import { tagOf } from './support/speed.js'

test('a file has the tag of its first line, or none', () => {
  expect(tagOf('a.test.ts', '// @module-tag long\n/** About. */\n')).toBe('long')
  expect(tagOf('a.test.ts', '// @module-tag search\nimport x\n')).toBe('search')
  expect(tagOf('a.test.ts', "import x\ntest('one', { tags: 'long' }, () => {})\n")).toBeUndefined()
  expect(tagOf('a.test.ts', "const text = '// @module-tag long'\n")).toBeUndefined()
})

test.each([
  '/** About. */\n// @module-tag long\n',
  '/** @module-tag long */\n',
  '// @module-tag slow\n',
  '/**\n * About.\n * @module-tag long\n */\n',
])('a tag that no run would find is refused: %j', text => {
  expect(() => tagOf('a.test.ts', text)).toThrow('a.test.ts must name its tag in its first line')
})
