import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { Checksum } from '../../../src/base/checksum/checksum.js'
import { built } from '../../support/build.js'

test('a machine without WebAssembly computes the same checksum', () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index * index))
  const checksum = new Checksum()
  checksum.add(bytes)
  const module = JSON.stringify(pathToFileURL(join(built, 'dist/base/checksum/checksum.js')).href)
  const program = `
    import { Checksum } from ${module}
    const checksum = new Checksum()
    checksum.add(Buffer.from('${bytes.toString('base64')}', 'base64'))
    process.stdout.write(typeof WebAssembly + ' ' + checksum.digest())`
  // Its standard error holds a warning of Node about the flag.
  const answer = execFileSync(process.execPath, ['--jitless', '--input-type=module'], { input: program, stdio: 'pipe' })
  expect(answer.toString()).toBe(`undefined ${checksum.digest()}`)
})
