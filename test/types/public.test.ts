/** The public interface as it is published. A change of it shows in review: `npx vitest run test/types/public.test.ts --update` writes it again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { built } from '../support/build.js'

test.each(['index', 'servicenow', 'connection', 'lab/index'])(
  'the declarations of %s are those of the report',
  async door => {
    const [types, common] = ['ts', 'cts'].map(end => readFileSync(join(built, 'dist', `${door}.d.${end}`), 'utf8'))
    expect(common).toBe(types)
    // Neither internals nor a package that a program has no use for.
    const packages = [...(types ?? '').matchAll(/ from '([^']+)'/g)].map(([, name]) => name)
    expect(packages.filter(name => !/^(node:.*|@elastic\/elasticsearch)$/.test(name ?? ''))).toEqual([])
    expect(types).not.toMatch(/import\('\.|declare module/)
    await expect(types).toMatchFileSnapshot(`public/${door.replace('/', '-')}.txt`)
  },
)
