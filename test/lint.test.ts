import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

const planted: readonly [string, string][] = [
  ['no-floating-promises', 'async function work(): Promise<void> {}\nexport function start(): void {\n  work()\n}\n'],
  [
    'switch-exhaustiveness-check',
    "export function name(kind: 'a' | 'b'): string | undefined {\n  switch (kind) {\n    case 'a':\n      return 'A'\n  }\n  return undefined\n}\n",
  ],
  ['no-explicit-any', 'export const anything: any = 1\n'],
  ['no-console', "console.log('printed')\n"],
]

test('the linter catches what is planted', { tags: 'long' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lint-'))
  try {
    for (const [rule, text] of planted) writeFileSync(join(folder, `${rule}.ts`), text)
    writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"module":"nodenext","types":[]}}')
    const oxlint = join(root, 'node_modules', '.bin', 'oxlint')
    const run = promisify(execFile)(oxlint, ['-c', join(root, '.oxlintrc.json'), '--type-aware', '-f', 'unix', '.'], {
      cwd: folder,
      // It looks for its type checker in the folder's packages, and then here.
      env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env['PATH']}` },
    })
    const { code, stdout } = await run.then(
      done => ({ ...done, code: 0 }),
      (error: { code: number; stdout: string }) => error,
    )
    for (const [rule] of planted) expect(stdout).toMatch(new RegExp(`^${rule}\\.ts:.*${rule}`, 'm'))
    expect(code).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
