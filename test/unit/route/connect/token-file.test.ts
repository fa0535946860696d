import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Tokens } from '../../../../src/route/servicenow/login/token-call.js'
import { systemClock } from '../../../../src/base/time/clock.js'
import { type TokenFile, tokensInFile } from '../../../../src/route/connect/token-file.js'
import { SkippingClock } from '../../../support/load/held-clock.js'

const tokens: Tokens = { accessToken: 'a', refreshToken: 'r', renewAt: 1 }
const owner = { instance: 'https://instance.example', client: 'id', user: 'u', grant: 'password' }

let folder: string
let path: string
let warnings: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokens-'))
  path = join(folder, 'state', 'tokens.json')
  warnings = []
})
afterEach(async () => {
  await chmod(join(folder, 'state'), 0o700).catch(() => {})
  await rm(folder, { recursive: true })
})

function store(more: Partial<TokenFile> = {}) {
  return tokensInFile({ path, owner, clock: systemClock, onWarning: message => warnings.push(message), ...more })
}

const keep = async (kept: Tokens, of = store()) => await of.exclusively(async () => await Promise.resolve(kept))

describe('a token file', () => {
  test('is made with its folder, for the owner alone, and keeps each owner’s tokens', async () => {
    expect(await store().read()).toBeUndefined()
    await keep(tokens)
    const others = [
      { ...owner, instance: 'https://other.example' },
      { ...owner, client: 'other' },
      { ...owner, user: 'other' },
      { ...owner, grant: 'authorization_code' },
    ]
    for (const other of others) {
      const its = store({ owner: other })
      expect(await its.read()).toBeUndefined()
      await keep({ ...tokens, accessToken: JSON.stringify(other) }, its)
    }
    expect(await store().read()).toEqual(tokens)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700)
    // Neither locks nor halves of files are left.
    expect(await readdir(join(folder, 'state'))).toEqual(['tokens.json'])
    expect(warnings).toEqual([])
  })

  test('that others can read is closed to them, and that is told', async () => {
    await keep(tokens)
    await chmod(path, 0o644)
    expect(await store().read()).toEqual(tokens)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(warnings).toEqual([expect.stringContaining('mode 0644')])
    expect(warnings.join()).not.toContain('"a"')
  })

  test('that holds something else is left as it is', async () => {
    await keep(tokens)
    const others = [
      '# Notes\n',
      '{"version":2,"tokens":{}}',
      '{"version":1,"tokens":{"x":{"refreshToken":1}}}',
      '[]',
      'null',
    ]
    for (const text of others) {
      await writeFile(path, text)
      await expect(keep(tokens)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
    await writeFile(path, '')
    await keep(tokens)
    expect(await store().read()).toEqual(tokens)
  })

  test('lets one at a time renew, each with what the one before kept', async () => {
    const seen: (string | undefined)[] = []
    const add = async (kept: Tokens | undefined) => {
      seen.push(kept?.accessToken)
      await new Promise(resolve => setImmediate(resolve))
      return { accessToken: `${kept?.accessToken ?? ''}x` }
    }
    await Promise.all(Array.from({ length: 4 }, async () => await store().exclusively(add)))
    expect(seen).toEqual([undefined, 'x', 'xx', 'xxx'])
    expect(await store().read()).toEqual({ accessToken: 'xxxx' })
  })

  test(
    'is written without the other process’s leave once that one takes too long, and it is told',
    { tags: 'long' },
    async () => {
      const clock = new SkippingClock()
      await store().exclusively(async () => {
        await keep({ accessToken: 'mine' }, store({ clock }))
        return { accessToken: 'late' }
      })
      expect(warnings).toEqual([expect.stringContaining('another process has held')])
      expect(await store().read()).toEqual({ accessToken: 'late' })
    },
  )

  test('that can be neither read nor written says so', async () => {
    await keep(tokens)
    // A folder of that name: no file can take its place.
    const blocked = store({ path: join(folder, 'state') })
    await expect(keep(tokens, blocked)).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
  })

  test('keeps what was there when a renewal fails', async () => {
    await keep(tokens)
    const failing = store().exclusively(async () => await Promise.reject(new Error('refused')))
    await expect(failing).rejects.toThrow('refused')
    expect(await store().read()).toEqual(tokens)
    expect(await readdir(join(folder, 'state'))).toEqual(['tokens.json'])
  })
})
