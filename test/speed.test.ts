import { expect, test } from 'vitest'
import { tagOf } from './support/speed.js'

/** In one piece, Vitest would take it for the tag of this file. */
const mark = ['@module', 'tag'].join('-')

test('a file has the tag of its first line, or none', () => {
  expect(tagOf('a.test.ts', `// ${mark} long\n/** About. */\n`)).toBe('long')
  expect(tagOf('a.test.ts', `// ${mark} search\nimport x\n`)).toBe('search')
  expect(tagOf('a.test.ts', "import x\ntest('one', { tags: 'long' }, () => {})\n")).toBeUndefined()
  expect(tagOf('a.test.ts', `const text = '// ${mark} long'\n`)).toBeUndefined()
})

test.each([
  `/** About. */\n// ${mark} long\n`,
  `/** ${mark} long */\n`,
  `// ${mark} slow\n`,
  `/**\n * About.\n * ${mark} long\n */\n`,
])('a tag that no run would find is refused: %j', text => {
  expect(() => tagOf('a.test.ts', text)).toThrow('a.test.ts must name its tag in its first line')
})
